"""Reads a log in a single pass: the recognisers get each relevant line once, in order."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import pairwise

from triage.ir import passes
from triage.logs import chains, episodes, places, signature
from triage.logs import context as context_module
from triage.logs.context import Context
from triage.logs.cut_traceback import cut_traceback, is_of_traceback
from triage.logs.described import described
from triage.logs.dump import lowered_operation, with_lowered_operation
from triage.logs.ending import ending
from triage.logs.evidence import attributed, is_about, is_of_others, judged, settled, shows_progress
from triage.logs.excerpts import Excerpts, Readers
from triage.logs.finding import Finding, Specificity
from triage.logs.frontend_texts import is_languages, names_tritons
from triage.logs.native_texts import is_native
from triage.logs.patterns import regex
from triage.logs.prefixed import MOST_CHARACTERS, behind_prefix
from triage.logs.quoted import quoted, quoted_cause, quoted_in_prose
from triage.logs.reading import Log
from triage.logs.recognisers import RECOGNISERS, Recogniser, mlir_diagnostic, silent_pass, stack_trace
from triage.logs.recognisers.out_of_resources import MAX_THREADS, out_of_resources
from triage.logs.recognisers.python_exception import is_exception_line
from triage.logs.repeated import with_text, with_whole
from triage.logs.sieve import Sieve, present, sieve_for
from triage.logs.sizes import arithmetic
from triage.logs.statement import stated, tells
from triage.logs.surroundings import emulations, setting_of
from triage.logs.window import Window, windows
from triage.model.diagnosis import Diagnosis, Kind, Trait
from triage.model.setting import UNKNOWN_SETTING, Setting

#: A text may repeat its failure endlessly (a loop over configurations); further findings are skipped, unless they are
#: more specific than all others.
MAX_FINDINGS = 500
#: Number of equal lines that are read: repetition must not hide what follows.
MAX_REPEATS = 100
#: Characters of all messages together: those of 500 findings have 500 each, and seldom more than 200.
MAX_MESSAGES = 250_000

#: Number of stored failures of other programs: the last one says how the text ends.
MAX_OTHERS = 20

#: Kinds of a statement for which the traceback below it takes precedence.
_VAGUE = (Kind.ENVIRONMENT, Kind.UNKNOWN, Kind.OTHER)

#: Kinds of exceptions raised by Python code.
_OF_PYTHON = (Kind.PYTHON_EXCEPTION, Kind.FRONTEND_ERROR)

#: Cost of creating a finding, in lines that could be read in that time.
_WORK = 4

_QUOTED_EXCEPTION = regex(r"[\"'`][A-Z]\w{1,40}Error(?:Impl)?(?:: |\(['\"])")

#: Findings that a title is compared with.
_MOST_BELOW = 50
#: Beginnings of Python lines that contain a message as a string.
_QUOTING = ("raise ", "assert ", "return ", "print(")

#: A line without any of these is irrelevant.
ANCHORS = tuple(
    dict.fromkeys(
        [anchor for recogniser in RECOGNISERS for anchor in recogniser.anchors]
        + [*context_module.ANCHORS, *chains.LINKS]
    )
)


def readers(line: str) -> Readers:
    """How a line is to be read, by the strings that it contains."""
    wanting = 0
    for number in _anchors_in()(line):
        wanting |= _WANTING[number]
    if wanting:
        return _chosen(wanting)
    alone = any(anchor in line for anchor in context_module.ANCHORS) or chains.link_at(0, line) is not None
    return () if alone else None


_WANTED = tuple(dict.fromkeys(anchor for recogniser in RECOGNISERS for anchor in recogniser.anchors))
#: For each anchor, the recognisers that read its lines, as bits.
_WANTING = tuple(
    sum(1 << number for number, recogniser in enumerate(RECOGNISERS) if anchor in recogniser.anchors)
    for anchor in _WANTED
)


@cache
def _anchors_in() -> Callable[[str], Iterable[int]]:
    return present(_WANTED)


@lru_cache(maxsize=4096)
def _chosen(bits: int) -> tuple[Recogniser, ...]:
    return tuple(recogniser for number, recogniser in enumerate(RECOGNISERS) if bits >> number & 1)


@cache
def _sieve() -> Sieve:
    # pytest's marker: see Excerpts.
    return sieve_for((*ANCHORS, "E   "))


@cache
def _urgent() -> Sieve:
    """Finds the lines in which the compiler may have stopped itself. Thousands of threads may fail an assertion."""
    most = max(recogniser.most for recogniser in RECOGNISERS)
    sieve = sieve_for(anchor for recogniser in RECOGNISERS if recogniser.most is most for anchor in recogniser.anchors)
    others = [
        anchor.encode()
        for reader in RECOGNISERS
        if reader.owns and reader.most is not most
        for anchor in reader.anchors
    ]

    def urgent(block: bytes) -> list[int]:
        def is_of_others(hit: int) -> bool:
            begin = block.rfind(b"\n", 0, hit) + 1
            return any(block.find(anchor, begin, hit) >= 0 for anchor in others)

        return [hit for hit in sieve(block) if not is_of_others(hit)]

    return urgent


@dataclass(frozen=True, slots=True)
class Reading:
    """All failures in a log, in log order, not yet ranked, with their context.

    ``others`` are the last failures of other programs; ``has_evidence`` tells whether any line of the log is one that
    only a program with Triton or CuTe DSL prints; ``ends`` are the first and the last bytes.
    """

    findings: list[Finding]
    context: Context
    others: list[Finding]
    has_evidence: bool
    ends: tuple[bytes, bytes]


def _is_quotation(window: Window) -> bool:
    """True for a comment of MLIR, and for a line of Python source: any message in it is a string."""
    if window.line.startswith(passes.COMMENT) or window.line.lstrip().startswith(_QUOTING):
        return True
    return window.line.startswith("    ") and bool(window.before) and window.before[-1].startswith("  File ")


@dataclass(slots=True)
class _Collector:
    """The findings of a log, bounded in number and size."""

    captured: bool
    findings: list[Finding] = field(default_factory=list)
    #: The last failures of other programs.
    others: deque[Finding] = field(default_factory=lambda: deque(maxlen=MAX_OTHERS))
    #: Failures behind a prefix of another kind than those that are removed, while nothing else states a cause.
    prefixed: list[Finding] = field(default_factory=list)
    _tried: int = 0
    _highest: Specificity = Specificity.TAIL
    # The last line that is part of a finding.
    _last: int = -1
    _characters: int = 0
    # For the line of each finding: how many had the same, and how many lines after it are part of them.
    _repeats: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, window: Window, context: Context) -> int:
        """Add the failure that the line states, if any. Returns the cost, in lines that could be read in that time."""
        if window.position <= self._last or not window.readers or _is_quotation(window):
            return 0
        repeats, extent = self._repeats.get(window.line, (0, 0))
        if repeats >= MAX_REPEATS:
            self._last = window.position + extent
            return 0
        finding, work = self._recognise(window)
        if finding is None or finding.specificity is Specificity.TAIL:
            work += self._behind_prefix(window, context, finding)
        if finding is not None and finding.diagnosis.kind is Kind.OTHER:
            self.others.append(finding)
        elif finding is not None:
            self.findings.append(_with_context(finding, window, context))
            self._repeats[window.line] = (repeats + 1, finding.extent)
            self._last = window.position + finding.extent
            self._highest = max(self._highest, finding.specificity)
            self._characters += len(finding.diagnosis.message)
        return work

    @property
    def states_a_cause(self) -> bool:
        """Whether a finding says more than that something failed."""
        return self._highest > Specificity.TAIL

    @property
    def lacks_cause(self) -> bool:
        """Whether neither a line's beginning nor what stands behind a prefix states more than that."""
        return not self.states_a_cause and all(finding.specificity is Specificity.TAIL for finding in self.prefixed)

    @property
    def lack_reasons(self) -> bool:
        """Whether all there is are reports of the front end, cut off before the reason."""
        return bool(self.findings) and all(map(chains.lacks_reason, self.findings))

    def _behind_prefix(self, window: Window, context: Context, read: Finding | None) -> int:
        if not self.captured or self.states_a_cause or self._tried >= MOST_CHARACTERS:
            return 0
        self._tried += len(window.line) * len(window.readers)
        # After a recognised beginning, the rest of a line may only state a consequence.
        says_less = read is None or read.diagnosis.kind is Kind.OTHER
        if (prefixed := behind_prefix(window)) and (says_less or prefixed[0].specificity > Specificity.TAIL):
            self.prefixed.append(_with_context(*prefixed, context, window.line))
        return _WORK

    def _recognise(self, window: Window) -> tuple[Finding | None, int]:
        # Many findings must not hide a more specific one.
        is_full = len(self.findings) >= MAX_FINDINGS or self._characters >= MAX_MESSAGES
        least = self._highest.value if is_full else 0
        work = 0
        for recogniser in window.readers:
            if recogniser.most > least or recogniser.owns:
                work += 1
                if finding := recogniser.recognise(window):
                    return (finding if finding.specificity > least else None), work + _WORK
        return None, work


def _with_context(finding: Finding, window: Window, context: Context, whole: str | None = None) -> Finding:
    """The finding with the facts that only its position in the log shows. ``whole`` is the window's line with a prefix
    that was removed to read it."""
    diagnosis = finding.diagnosis
    ends = (diagnosis.exception is not None or is_exception_line(window.line)) and not _wraps(window)
    finding = attributed(finding, window)
    traceback = context.end_traceback(window.before) if ends else None
    finding = judged(finding, window, traceback.foreign if traceback else None)
    finding = places.stated(finding, whole or window.line)
    if traceback is not None and traceback.traces:
        finding = chains.traced(finding, traceback.source, window.before)
    if ends:
        finding = places.raised(finding, window, traceback)
    if diagnosis.exception is not None:
        return finding
    in_a_pass = diagnosis.kind.has(Trait.IN_PASS) and finding.specificity >= Specificity.SYMPTOM
    if in_a_pass and window.dump is not None and (lowered := lowered_operation(diagnosis, window.dump)):
        diagnosis = with_lowered_operation(finding.diagnosis, lowered)
        return replace(finding, diagnosis=diagnosis, locations=finding.locations + lowered.locations)
    return finding


def _wraps(window: Window) -> bool:
    """True for an exception that shows another one on the next line: `BackendCompilerFailed: … raised:`."""
    return window.line.rstrip().endswith(":") and bool(window.after) and is_exception_line(window.after[0])


def _too_many_threads(diagnosis: Diagnosis, context: Context) -> Diagnosis:
    """ptxas divides the registers among the threads, and says first that those of a thread do not suffice."""
    threads = context.threads or 0
    if diagnosis.kind is Kind.PTXAS and threads > MAX_THREADS and "nsufficient registers" in diagnosis.message:
        return out_of_resources("threads", threads, MAX_THREADS, diagnosis.message)
    return diagnosis


def _completed(finding: Finding, context: Context) -> Finding:
    diagnosis = _too_many_threads(chains.frontend_headline(finding.diagnosis), context)
    if diagnosis.pass_name is not None:
        diagnosis = replace(diagnosis, pass_name=context.argument_of(diagnosis.pass_name))
    if diagnosis.stage is None:
        diagnosis = replace(diagnosis, stage=mlir_diagnostic.stage_of_cute(diagnosis) or context.stage)
    is_silent = finding.specificity is Specificity.TAIL and diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    if is_silent and silent_pass.says_nothing(diagnosis.message):
        diagnosis = replace(diagnosis, headline=silent_pass.headline(diagnosis.pass_name))
    return replace(finding, diagnosis=replace(diagnosis, signature=signature.signature_of(diagnosis)))


def read(log: Log, sieve: Sieve | None = None, captured: bool = True) -> Reading:
    """Read a log once, from beginning to end. Any sieve that misses no anchor gives the same result.

    ``captured``: its lines may have prefixes of whatever they came through.
    """
    context = Context()
    collector = _Collector(captured)
    links: list[chains.ChainLink] = []
    excerpts = Excerpts(sieve or _sieve(), _urgent(), readers)
    for window in windows(excerpts.lines(log)):
        context.see(window.position, window.line, window.after)
        if window.begins:
            context.part_begins(window.position)
        if (link := chains.link_at(window.position, window.line)) and len(links) < MAX_FINDINGS:
            links.append(link)
        else:
            excerpts.spend(collector.add(window, context))
    quotation = _quotation(excerpts, collector)
    if quotation and quotation.diagnosis.kind is Kind.PYTHON_EXCEPTION and collector.lack_reasons:
        # The exception that a user describes is the reason.
        collector.findings = [chains.joined(quotation, finding, True) for finding in collector.findings]
    elif quotation:
        specificity = (
            max(quotation.specificity, Specificity.DIAGNOSTIC) if collector.findings else quotation.specificity
        )
        collector.findings.insert(0, replace(quotation, specificity=specificity))
    if not collector.states_a_cause:
        prefixed = _without_repeats(collector.prefixed)
        collector.findings = sorted([*collector.findings, *prefixed], key=lambda finding: finding.position)
    joined = _with_stacks(chains.join_chains(collector.findings, links, context.boundaries))
    if captured:  # not for kernels that triage compiles itself: their source is known
        joined = places.of_pipeline(joined, context.boundaries)
    fails_elsewhere = bool(collector.others) or context.open_source is not None
    goes_on = shows_progress(excerpts.ends[1])
    own = settled(with_text(joined, excerpts.whole), excerpts.evidence, excerpts.whole, fails_elsewhere, goes_on)
    own = places.in_compiler(with_whole(places.in_pass(own, context, excerpts.whole)), context, excerpts.whole)
    own = places.in_python([_completed(finding, context) for finding in own], context, excerpts.whole)
    return Reading(own, context, list(collector.others), bool(excerpts.evidence), excerpts.ends)


def _without_repeats(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The findings without a title's that one below states with the exception that was raised around it."""
    title, below = next(iter(findings), None), findings[1:_MOST_BELOW]
    shown = title.diagnosis.headline if title else ""
    is_repeat = any(f" {shown}" in finding.diagnosis.headline for finding in below)
    return findings[1:] if is_repeat else findings


def _quotation(excerpts: Excerpts, collector: _Collector) -> Finding | None:
    """The failure as users describe it, if no printed line states its cause."""
    lines = excerpts.whole
    if not (collector.lacks_cause or collector.lack_reasons):
        return None
    if is_of_others(lines):
        return None
    is_about_triton = bool(excerpts.evidence) or any(
        names_tritons(line) or is_native(line) or _quotes_front_end(line) for line in lines
    )
    if collector.findings:
        quotation = (quoted_cause(lines, _read_cause) if is_about_triton else None) or quoted(lines)
        kind = quotation.diagnosis.kind if quotation else None
        kinds = {finding.diagnosis.kind for finding in collector.findings}
        # A text of the front end explains no failure in a pass or in ptxas, and advice no lack of a resource.
        is_vague = kind is Kind.FRONTEND_ERROR and not kinds <= {*_OF_PYTHON}
        return None if is_vague or (kind is Kind.OUT_OF_RESOURCES and kind in kinds) else quotation
    in_prose = quoted_in_prose(lines, _read_alone) if is_about_triton else None
    if quotation := in_prose or quoted(lines):
        return attributed(quotation, Window(quotation.position, quotation.diagnosis.message, (), (), ()))
    if collector.prefixed:
        return None
    is_open = not (collector.findings or collector.others) and is_about(lines)
    statement = stated(lines, _read_line) if is_open else None
    cut = cut_traceback(lines) if is_open else None
    if statement and cut:
        return _above(statement, cut)
    if statement or cut:
        return statement or cut
    retold = described(lines) if is_about_triton else None
    # A sentence that names no kind of failure says less than what a program printed.
    return None if retold and retold.diagnosis.kind is Kind.UNKNOWN and collector.others else retold


def _quotes_front_end(line: str) -> bool:
    """True for a line that quotes an exception with a text that the front end raises."""
    return is_languages(line) and _QUOTED_EXCEPTION.search(line) is not None


def _above(statement: Finding, cut: Finding) -> Finding:
    """The finding that states the failure: the statement, or the truncated traceback that ends the text."""
    stated = statement.diagnosis
    if cut.diagnosis.kind is not Kind.PYTHON_EXCEPTION:
        return cut
    is_raised = stated.kind in _VAGUE and not _read_line(0, stated.message)
    kind = Kind.PYTHON_EXCEPTION if is_raised else stated.kind
    finding = cut if is_of_traceback(stated.message) or not tells(statement) else statement
    return replace(finding, diagnosis=replace(finding.diagnosis, kind=kind))


def _read_line(position: int, line: str) -> Finding | None:
    return _read_alone(Window(position, line, (), (), ()))


def _read_alone(window: Window) -> Finding | None:
    """The finding of a line read without its neighbours; None for one that any program may print."""
    for recogniser in readers(window.line) or ():
        if (finding := recogniser.recognise(window)) and finding.diagnosis.kind is not Kind.OTHER:
            return None if finding.diagnosis.kind.has(Trait.PROCESS_END) else finding
    return None


def _read_cause(window: Window) -> Finding | None:
    """``_read_alone`` for lines that state a cause, not only that something failed."""
    finding = _read_alone(window)
    return finding if finding and finding.specificity > Specificity.TAIL else None


def _with_stacks(findings: list[Finding]) -> list[Finding]:
    """The findings; a failure without a function gets the one that the native stack below it names."""
    result = findings[:]
    for index, (finding, stack) in enumerate(pairwise(findings)):
        diagnosis = finding.diagnosis
        if (
            finding.specificity is Specificity.FATAL
            and diagnosis.function is None
            and diagnosis.kind is not Kind.OUT_OF_MEMORY
            and stack_trace.is_stack(stack.diagnosis)
        ):
            result[index] = replace(finding, diagnosis=replace(diagnosis, function=stack.diagnosis.function))
    return result


def findings(log: Log) -> list[Finding]:
    """All failures of Triton in a log, in log order, each with its rank; rank 1 is the root cause."""
    return _ranked(read(log))


def _ranked(reading: Reading) -> list[Finding]:
    ranked = episodes.ranked(reading.findings, reading.context.boundaries)
    setting = setting_of(*reading.ends) if ranked else UNKNOWN_SETTING
    following: dict[int, list[Diagnosis]] = {}
    for finding in ranked:
        if finding.follows is not None:
            following.setdefault(finding.follows, []).append(finding.diagnosis)
    return [_surrounded(finding, setting, following.get(finding.rank, [])) for finding in ranked]


def _surrounded(finding: Finding, setting: Setting, following: list[Diagnosis]) -> Finding:
    diagnosis = finding.diagnosis
    related = (*diagnosis.related, *following)[: chains.MAX_RELATED]
    notes = (*diagnosis.notes, *emulations(diagnosis, setting), *arithmetic(diagnosis, setting))
    return replace(finding, diagnosis=replace(diagnosis, setting=setting, related=related, notes=notes))


def failures(log: Log) -> list[Finding]:
    """``findings``, or, if none is Triton's, the failure of another program that ends the log, if any."""
    reading = read(log)
    ranked = _ranked(reading)
    if not ranked and (last := ending(reading.findings, reading.others, reading.has_evidence)):
        return [_completed(last, reading.context)]
    return ranked


def root_cause(ranked: Iterable[Finding]) -> Finding | None:
    """The finding with rank 1."""
    return next((finding for finding in ranked if finding.rank == 1), None)


def diagnose_text(log: Log) -> Diagnosis | None:
    """The root cause of Triton's failures in a log; None if there are none."""
    root = root_cause(findings(log))
    return root.diagnosis if root else None


def diagnose_any(log: Log) -> Diagnosis | None:
    """The root cause of the failures in a log, preferring Triton's; None if nothing failed."""
    root = root_cause(failures(log))
    return root.diagnosis if root else None
