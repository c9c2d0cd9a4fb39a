"""A legality rule: its parameters, how it judges values of them, and the explanation that follows from both."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeAlias

from triage.legality import dtypes
from triage.legality.algebra import layout
from triage.legality.algebra.layout import StridedLayout
from triage.legality.dtypes import DType
from triage.legality.explanation import Drawing, Explanation, Fact, RuleTable
from triage.legality.violation import Violation, spoken
from triage.model.errors import InputError
from triage.model.target import Target

Arguments: TypeAlias = Mapping[str, Any]
"""Parameters by name, with ``_`` for ``-``; those left out are absent, unless they have a default."""


class Syntax(Enum):
    """Syntax of a parameter's value."""

    INTEGER = "integer"
    DTYPE = "dtype"
    CHOICE = "choice"
    SHAPE = "shape"
    TARGET = "target"
    RELEASE = "release"
    LAYOUT = "layout"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class RuleParameter:
    """One ``--name`` of a rule. ``read`` turns its text into an int, a DType, one of ``choices``, a tuple of ints
    (``128x256x64``), a Target, a release as written, a StridedLayout, or a bool. ``required``: it must be given."""

    name: str
    syntax: Syntax
    help: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False

    @property
    def key(self) -> str:
        """The name in ``Arguments``."""
        return self.name.replace("-", "_")

    def read(self, text: str) -> Any:
        """The value of a text. Raises InputError that names the parameter."""
        try:
            return self._read(text.strip())
        except InputError as error:
            raise InputError(f"--{self.name}: {error}") from None

    def _read(self, text: str) -> Any:
        match self.syntax:
            case Syntax.INTEGER:
                return _integer(text)
            case Syntax.DTYPE:
                return dtypes.parse(text)
            case Syntax.CHOICE:
                for choice in self.choices:
                    if choice.lower() == text.lower():
                        return choice
                raise InputError(f"{text!r} is not one of {', '.join(self.choices)}")
            case Syntax.SHAPE:
                return tuple(_integer(part) for part in text.lower().replace(",", "x").split("x"))
            case Syntax.TARGET:
                return Target.parse(text)
            case Syntax.LAYOUT:
                return layout.read(text)
        return text


def _integer(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise InputError(f"{text!r} is not an integer") from None
    if not 0 <= value < 1 << 63:
        raise InputError(f"{value} is out of range: give 0 or more")
    return value


@dataclass(frozen=True, slots=True)
class Judgement:
    """The findings of a rule for given parameters; the explanation is made of them.

    ``subject`` says in a line what was judged. ``resolved`` are parameters with the values that the rule filled in for
    what was left out. ``alternatives`` are changes of parameters, each with its name, that may be legal instead, beside
    those that the violations name. ``verdict`` replaces "legal" where the rule cannot tell.
    """

    subject: str
    violations: Sequence[Violation] = ()
    facts: Sequence[Fact] = ()
    tables: Sequence[RuleTable] = ()
    drawings: Sequence[Drawing] = ()
    notes: Sequence[str] = ()
    sources: Sequence[str] = ()
    resolved: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    alternatives: Sequence[tuple[str, Mapping[str, Any]]] = ()
    verdict: str = "legal"


@dataclass(frozen=True, slots=True)
class LegalityRule:
    """A rule that ``triage explain`` knows.

    ``judge`` is called with the parameters read, defaults included; ``tables`` (of the rule itself, whatever the
    numbers) with the defaults alone, and a target or release where that was given. ``notes`` go with the tables.
    ``sources`` are named by every explanation. ``examples`` are command lines after ``triage explain NAME``; a test
    runs them.
    """

    name: str
    title: str
    parameters: tuple[RuleParameter, ...]
    judge: Callable[[Arguments], Judgement]
    tables: Callable[[Arguments], Sequence[RuleTable]]
    examples: tuple[str, ...]
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def answer(self, texts: Mapping[str, str | bool | None]) -> Explanation:
        """Explain parameters by ``key``; without any but a target or release, the rule's tables. Raises InputError
        naming the parameter that is wrong or missing."""
        stated = {name: value for name, value in texts.items() if value is not None and value is not False}
        args: dict[str, Any] = {}
        for parameter in self.parameters:
            text = stated.get(parameter.key, parameter.default)
            if text is not None:
                args[parameter.key] = parameter.read(text) if isinstance(text, str) else text
            elif parameter.syntax is Syntax.FLAG:
                args[parameter.key] = False
        if not stated.keys() - {"target", "triton"}:
            tables = tuple(self.tables(args))
            sources = (*self.sources, *(source for table in tables for source in table.sources))
            unique = tuple(dict.fromkeys(sources))
            return Explanation(self.name, self.title, self.title, tables=tables, notes=self.notes, sources=unique)
        missing = [parameter.name for parameter in self.parameters if parameter.required and parameter.key not in args]
        if missing:
            raise InputError(f"explain {self.name}: --{missing[0]} is missing: try {self.examples[0]}")
        judgement = self.judge(args)
        legal = tuple(self._legal_instead(args, judgement))[:_MOST_ALTERNATIVES]
        return replace(self._explained(args, judgement), instead=legal)

    def _explained(self, args: Arguments, judgement: Judgement) -> Explanation:
        verdict = "illegal" if judgement.violations else judgement.verdict
        return Explanation(
            self.name,
            self.title,
            f"{verdict}: {judgement.subject}",
            {name: _plain(value) for name, value in {**args, **judgement.resolved}.items()},
            not judgement.violations,
            tuple(judgement.violations),
            tuple(judgement.facts),
            tuple(judgement.tables),
            tuple(judgement.drawings),
            tuple(judgement.notes),
            tuple(dict.fromkeys((*self.sources, *judgement.sources))),
        )

    def _legal_instead(self, args: Arguments, judgement: Judgement) -> Iterator[tuple[str, Explanation]]:
        """Legal parameters in place of the given ones: everything corrected at once, each single correction, and then
        the rule's own alternatives; each with the facts that differ."""
        if not judgement.violations:
            return
        singles = (
            self._corrected(args, violation, value) for violation in judgement.violations for value in violation.nearest
        )
        changes = [("", changed) for changed in (self._all_corrected(args, judgement), *singles)]
        changes += [(name, {**args, **change}) for name, change in judgement.alternatives]
        shown = {fact.name: fact.value for fact in judgement.facts}
        seen: list[Arguments] = [args]
        for _, changed in changes:
            if changed in seen:
                continue
            seen.append(changed)
            other = self.judge(changed)
            if other.violations:
                continue
            facts = tuple(fact for fact in other.facts if shown.get(fact.name) != fact.value)
            # One picture is enough.
            drawings = () if len(seen) > 2 else tuple(other.drawings)
            explained = replace(self._explained(changed, other), facts=facts, drawings=drawings, tables=(), notes=())
            names = [name for name, other in changes if name and other == changed]
            yield names[0] if names else self._change(args, changed), explained

    def _corrected(self, args: Arguments, violation: Violation, value: Any) -> dict[str, Any]:
        """The parameters with the one that a violation is about set to another value."""
        parameter = next((known for known in self.parameters if known.key == violation.parameter), None)
        if parameter is None or isinstance(value, tuple) != (parameter.syntax is Syntax.SHAPE):
            return dict(args)
        return {**args, parameter.key: value if isinstance(value, tuple | bool) else parameter.read(str(value))}

    def _all_corrected(self, args: Arguments, judgement: Judgement) -> dict[str, Any]:
        """The parameters with the nearest legal value of each that is wrong. Some are judged only once others are
        right."""
        changed = dict(args)
        for _ in range(_ROUNDS):
            for violation in judgement.violations:
                for value in violation.nearest[:1]:
                    changed = self._corrected(changed, violation, value)
            judgement = self.judge(changed)
            if not judgement.violations:
                break
        return changed

    def _change(self, args: Arguments, changed: Arguments) -> str:
        return ", ".join(
            _spoken_parameter(parameter, changed[parameter.key])
            for parameter in self.parameters
            if args.get(parameter.key) != changed.get(parameter.key)
        )


def _spoken_parameter(parameter: RuleParameter, value: Any) -> str:
    if isinstance(value, bool):
        return parameter.name if value else f"no {parameter.name}"
    return f"{parameter.name} {spoken((value if isinstance(value, tuple | int) else str(value),))}"


_MOST_ALTERNATIVES = 3
_ROUNDS = 3


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, DType | Target | StridedLayout):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
