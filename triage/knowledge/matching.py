"""Finds the entries that match a diagnosis, best first. Reads no file but what was recorded of an entry's reproducers.

The confidence is a probability: that the entry says what happened. It is how often entries were right that matched by
the same way (``calibration``). Of two entries with the same way, that is more likely of which more agrees
(``_DOUBT``), by at most ``_DETAIL``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from triage.knowledge.calibration import RATES, Way
from triage.knowledge.entry import Entry, Symptoms
from triage.knowledge.history import Span, recorded
from triage.knowledge.wording import begins_at_end, occurs, share
from triage.model.compilers import CUTE, TRITON
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.match import Match
from triage.model.releases import in_range
from triage.model.setting import Setting

if TYPE_CHECKING:
    from triage.model.case import Case

_QUOTES = str.maketrans(dict.fromkeys("`\u2018\u2019", "'"))
"""Those of gcc in most languages, and those that people put in the place of Python's."""
# How often a field agrees by chance, to compare entries: a file has many failures, a kind has hundreds.
_DOUBT = {"message": 0.15, "function": 0.3, "file": 0.45, "pass": 0.45, "exception": 0.5, "kind": 0.7, "stage": 0.9}
# An entry for CuTe alone; most entries are for Triton, so that of those it says nothing.
_DOUBT_OF_COMPILER: Mapping[tuple[str, ...], float] = {(CUTE.name,): 0.6}
_DETAIL = 0.02
"""How far the confidences of one way lie apart, from the rate downwards; the counts resolve no less."""
_SHORT = 20
"""Characters of a message's text below which it may occur by chance; each one that is missing adds to the doubt."""
_CONDITION_UNKNOWN = 0.92
"""Factor for a condition on the case or the machine that nothing confirms. Of 25 such matches of pasted texts 22 were
right."""
_OF_ANY_PROGRAM = frozenset(
    {
        Kind.PYTHON_EXCEPTION,
        Kind.ENVIRONMENT,
        Kind.LAUNCH_ERROR,
        Kind.OUT_OF_MEMORY,
        Kind.TIMEOUT,
        Kind.KILLED,
        Kind.OTHER,
        Kind.UNKNOWN,
    }
)
"""Kinds of failure that programs without a compiler have as well."""
_OF_A_KIND = frozenset({"kind", "stage", "compiler"})
_COARSE = _OF_A_KIND | {"file", "pass", "exception"}
_UNWRAPPED, _WRAPPED = Kind.PYTHON_EXCEPTION.value, Kind.FRONTEND_ERROR.value
_SOURCE = "source"
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def match(diagnosis: Diagnosis, entries: Iterable[Entry], case: Case | None, release: str | None = None) -> list[Match]:
    """Entries of which every symptom holds, the most confident first.

    ``release`` is that of the case's compiler, the target and the options are those of the case; without them, what the
    diagnosed text tells of its setting.
    """
    if diagnosis.kind is Kind.UNKNOWN and not diagnosis.message:
        return []  # of a text in which nothing failed
    facts = _Facts.of(diagnosis, case, release)
    diagnosis = _attributed(diagnosis, case)
    matches = []
    unexplained = 1.0
    matching = [(entry, best) for entry in entries if (best := _best(entry, diagnosis, facts))]
    # Where a message was cut off, entries that begin alike cannot be told apart.
    if sum(best.is_cut for _, best in matching) > 1:
        matching = [(entry, best) for entry, best in matching if not best.is_cut]
    # A family is the answer only where no entry that says more is.
    for group in _groups(matching):
        matches += [
            _as_match(entry, best.confidence * unexplained if entry.generic else best.confidence)
            for entry, best in group
        ]
        own = [best.confidence for _, best in group if best.way is not Way.RELATED]
        unexplained *= 1 - max(own, default=0.0)
    return sorted(matches, key=lambda match: (-match.confidence, match.id))


def _groups(matching: Sequence[tuple[Entry, _Best]]) -> Iterator[list[tuple[Entry, _Best]]]:
    """The entries for a single cause, then the families by their way."""
    yield [(entry, best) for entry, best in matching if not entry.generic]
    for way in Way:
        yield [(entry, best) for entry, best in matching if entry.generic and best.way is way]


def ties(matches: Sequence[Match]) -> list[Match]:
    """The matches that share the highest confidence; empty if one match is better than all others."""
    best = [match for match in matches if match.confidence == matches[0].confidence]
    return best if len(best) > 1 else []


@dataclass(frozen=True, slots=True)
class NearMiss:
    """An entry that would match, but for ``differences``: one line for each symptom that does not hold."""

    entry: Entry
    differences: tuple[str, ...]


def near_misses(
    diagnosis: Diagnosis, entries: Iterable[Entry], case: Case | None, release: str | None = None
) -> list[NearMiss]:
    """The entries of which a symptom that names the failure holds, and others do not; those that lack least first."""
    facts = _Facts.of(diagnosis, case, release)
    diagnosis = _attributed(diagnosis, case)
    near = []
    for entry in entries:
        fields = list(_fields(entry.symptoms, diagnosis, compared=True))
        names_it = any(field.holds and field.name in ("message", "function") for field in fields)
        almost = any(field.name == "message" and not field.holds and field.share >= _ALMOST for field in fields)
        differences = [field.difference for field in fields if not field.holds]
        differences += [text for holds, text in _conditions(entry.symptoms, facts) if holds is False]
        if differences and (names_it or almost):
            near.append(NearMiss(entry, tuple(differences)))
    return sorted(near, key=lambda miss: (len(miss.differences), miss.entry.id))


def _attributed(diagnosis: Diagnosis, case: Case | None) -> Diagnosis:
    """The diagnosis with the compiler of the case, if there is one: it is more certain than words of a text."""
    if case is None:
        return diagnosis
    return replace(diagnosis, compiler=case.compiler)


_ALMOST = 0.8
"""Share of the words of a message from which on a text that has them nearly is that message."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of the machine and the compile."""

    setting: Setting
    case: Case | None

    @classmethod
    def of(cls, diagnosis: Diagnosis, case: Case | None, release: str | None) -> _Facts:
        stated = diagnosis.setting
        targets = stated.targets if case is None else (str(case.target),)
        setting = replace(stated, targets=targets)
        if release is not None:
            of_cute = case is not None and case.compiler == CUTE
            setting = replace(setting, cute=release) if of_cute else replace(setting, triton=release)
        return cls(setting, case)


@dataclass(frozen=True, slots=True)
class _Field:
    """A symptom beside what the diagnosis has. ``share``: of the words of its message, how many occur. ``is_cut``: the
    message ends within them."""

    name: str
    holds: bool
    doubt: float
    difference: str
    share: float = 0.0
    is_cut: bool = False


def _fields(symptoms: Symptoms, diagnosis: Diagnosis, compared: bool = False) -> Iterator[_Field]:
    """The symptoms beside the diagnosis. ``compared``: what differs is said as well, and how near a message is that
    does not hold, which takes longer than all the rest."""
    for name, expected, actual in (
        ("kind", symptoms.kind, diagnosis.kind.value),
        ("file", symptoms.file, diagnosis.file),
        ("pass", symptoms.pass_name, diagnosis.pass_name),
        ("stage", symptoms.stage, diagnosis.stage),
        ("exception", symptoms.exception, diagnosis.exception),
    ):
        if expected:
            difference = f"{name}: {actual or 'not known'}, not {' or '.join(expected)}" if compared else ""
            holds = actual in expected if name != "pass" else actual is not None and _is_one_of(actual, expected)
            if name == "kind" and _is_unwrapped(symptoms, diagnosis):
                yield _Field(name, True, 1.0, "")
            else:
                yield _Field(name, holds, _DOUBT[name], difference)
    compilers = symptoms.compiler or (TRITON.name,)
    compiler = diagnosis.compiler.name if diagnosis.compiler else None
    # Words that both compilers print (ptxas's, LLVM's, Python's) are CuTe's only where the text says so, and Triton's
    # unless the entry asks for that, too.
    if compiler is not None or TRITON.name not in compilers or symptoms.compiler == (TRITON.name,):
        difference = f"compiler: {compiler or 'not known'}, not {' or '.join(compilers)}"
        yield _Field("compiler", compiler in compilers, _DOUBT_OF_COMPILER.get(compilers, 1.0), difference)
    if symptoms.function:
        function = diagnosis.function or ""
        difference = f"function: {function or 'not known'}, not {' or '.join(symptoms.function)}"
        holds = any(text in function for text in symptoms.function)
        yield _Field("function", holds, _DOUBT["function"], difference)
    if symptoms.message:
        yield _message(symptoms.message, *_stated(diagnosis.headline, diagnosis.message), compared)


def _is_one_of(name: str, passes: Sequence[str]) -> bool:
    """Whether a pass is among those, as mlir-opt spells it or by its class: both are printed."""
    return _folded(name) in map(_folded, passes)


@lru_cache(maxsize=1024)
def _folded(name: str) -> str:
    return name.replace("-", "").lower().removesuffix("pass")


@lru_cache(maxsize=8)  # Of one diagnosis, and those related to it, all entries ask.
def _stated(headline: str, message: str) -> tuple[str, str]:
    """What a diagnosis states, and the same in one line: a text may have been wrapped by whoever pasted it."""
    stated = f"{headline}\n{message}"
    stated = f"{stated}\n{renamed}" if (renamed := _modern(stated)) != stated else stated
    return stated, " ".join(stated.split())


def _modern(message: str) -> str:
    """The message with the names that dialects have since 3.2, and with apostrophes for other quotation marks."""
    return message.replace("triton_gpu.", "ttg.").replace("triton_nvidia_gpu.", "ttng.").translate(_QUOTES)


def _message(expected: Sequence[str], actual: str, joined: str, compared: bool) -> _Field:
    holding = [text for text in expected if occurs(text, actual) or text in joined]
    if holding:
        length = max(map(len, holding))
        # A longer text says more: of two entries that hold, the one that quotes more of the message is meant.
        doubt = _DOUBT["message"] * (1 + max(0, _SHORT - length) / _SHORT) - min(length, 100) / 2000
        return _Field("message", True, doubt, "")
    if any(begins_at_end(text, joined) for text in expected):
        return _Field("message", True, _DOUBT["message"], "", is_cut=True)
    if not compared:
        return _Field("message", False, 1.0, "")
    nearest = max(expected, key=lambda text: share(text, actual))
    return _Field("message", False, 1.0, f"message: does not contain {nearest!r}", share(nearest, actual))


@dataclass(frozen=True, slots=True)
class _Best:
    """The most that speaks for an entry."""

    confidence: float
    way: Way
    is_cut: bool = False


def _best(entry: Entry, diagnosis: Diagnosis, facts: _Facts) -> _Best | None:
    """What speaks for it that the entry describes the failure, or one that the text chains to it; None if nothing."""
    ways = (entry.symptoms, *entry.alternatives)
    candidates = [evidence for symptoms in ways if (evidence := _evidence(symptoms, diagnosis, facts))]
    is_related = not candidates and not entry.generic
    if is_related:
        related = ((symptoms, other) for other in diagnosis.related for symptoms in ways)
        candidates = [evidence for symptoms, other in related if (evidence := _evidence(symptoms, other, facts))]
    if not candidates:
        return None
    is_elsewhere = diagnosis.kind is Kind.OTHER or diagnosis.elsewhere
    weighed = (_weighed(evidence, _way(evidence, entry, is_related, is_elsewhere)) for evidence in candidates)
    return max(weighed, key=lambda best: best.confidence)


def _way(evidence: _Evidence, entry: Entry, is_related: bool, is_elsewhere: bool) -> Way:
    if is_elsewhere:
        return Way.ELSEWHERE
    if is_related:
        return Way.RELATED
    return Way.FAMILY if entry.generic and evidence.way is Way.SPECIFIC else evidence.way


def _weighed(evidence: _Evidence, way: Way) -> _Best:
    unknown = evidence.unknown_conditions + evidence.is_cut
    return _Best((RATES[way] - _DETAIL * evidence.doubt) * _CONDITION_UNKNOWN**unknown, way, evidence.is_cut)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """One way to match that holds. ``doubt``: how likely all of its fields agree by chance; ``is_cut``: the message
    ends within the entry's words."""

    way: Way
    doubt: float
    unknown_conditions: int
    is_cut: bool


def _evidence(symptoms: Symptoms, diagnosis: Diagnosis, facts: _Facts) -> _Evidence | None:
    """What agrees if every field holds and no condition is refuted, else None."""
    if symptoms.kind and diagnosis.kind.value not in symptoms.kind and not _is_unwrapped(symptoms, diagnosis):
        return None  # As of most entries: it need not be looked at further.
    doubt, names = 1.0, set()
    is_cut = False
    for field in _fields(symptoms, diagnosis):
        # What triage has compiled itself is whole.
        if not field.holds or (field.is_cut and facts.case is not None):
            return None
        doubt *= field.doubt
        names.add(field.name)
        is_cut = is_cut or field.is_cut
    conditions = [holds for holds, _ in _conditions(symptoms, facts)]
    is_specific = bool(names - _OF_A_KIND)
    # A kind or a file does not identify a bug: unless something confirms the conditions, such an entry is a guess.
    if False in conditions or (None in conditions and not names - _COARSE):
        return None
    if is_specific:
        way = Way.SPECIFIC
    else:
        is_compilers = facts.case is not None or diagnosis.kind not in _OF_ANY_PROGRAM
        way = Way.COMPILER_KIND if is_compilers else Way.ANY_KIND
    return _Evidence(way, doubt, conditions.count(None), is_cut)


def _is_unwrapped(symptoms: Symptoms, diagnosis: Diagnosis) -> bool:
    """True for an exception raised in the front end, in a text without the front end's own that is chained to it."""
    kind = diagnosis.kind.value
    raised_there = kind == _UNWRAPPED and diagnosis.stage == _SOURCE
    return raised_there and kind not in symptoms.kind and _WRAPPED in symptoms.kind and bool(symptoms.message)


def _conditions(symptoms: Symptoms, facts: _Facts) -> Iterator[tuple[bool | None, str]]:
    """Whether each condition holds, None if that is unknown; and what differs if it does not."""
    setting = facts.setting
    if symptoms.targets:
        fitting = any(target.startswith(symptoms.targets) for target in setting.targets)
        # A text that names several GPUs compares them, or lists what there is.
        known = fitting or len(setting.targets) == 1
        yield (fitting if known else None), f"target: {', '.join(setting.targets)}, not {' or '.join(symptoms.targets)}"
    for name, release, expected in (
        ("triton", setting.triton, symptoms.triton),
        ("cute", setting.cute, symptoms.cute),
        ("torch", setting.torch, symptoms.torch),
    ):
        if expected:
            yield (None if release is None else in_range(release, expected)), f"{name}: {release}, not {expected}"
    if symptoms.system:
        holds = None if setting.system is None else setting.system == symptoms.system
        yield holds, f"system: {setting.system}, not {symptoms.system}"
    for name, wanted in symptoms.options.items():
        actual = facts.case.options.get(name) if facts.case else None
        holds = None if facts.case is None else _option_holds(actual, str(wanted))
        yield holds, f"{name}: {actual}, not {wanted}"


def _option_holds(actual: object, expected: str) -> bool:
    """Compare numbers for ``">1"`` and the like, texts for anything else."""
    if comparison := re.fullmatch(r"\s*([<>]=?)\s*(\d+)", expected):
        number = actual if isinstance(actual, int) else 1
        return bool(_COMPARISONS[comparison.group(1)](number, int(comparison.group(2))))
    return str(actual) == expected


def _as_match(entry: Entry, confidence: float) -> Match:
    was_run = entry.evidence == "run"
    # The releases of a family's reproducers say nothing of its other members.
    seen = recorded(entry) if was_run and not entry.generic else Span()
    return Match(
        id=entry.id,
        title=entry.title,
        cause=f"{entry.cause} ({entry.rule})",
        confidence=confidence,
        fixed_in=entry.fixed_in or seen.fixed_in,
        upstream=entry.upstream,
        evidence=entry.reproducers if was_run else ("log",),
        generic=entry.generic,
        next_steps=entry.next_steps,
        rewrites=entry.rewrites,
        helps=tuple(f"{advice.change}: {advice.observed} ({advice.ran})" for advice in entry.helps),
        does_not_help=tuple(f"{advice.change}: {advice.observed} ({advice.ran})" for advice in entry.does_not_help),
        first_bad=seen.first_bad,
        last_bad=seen.last_bad,
    )
