"""From a failing case to the smallest that fails alike, on disk, with a script that shows it anywhere."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain, Toolchains
from triage.minimize import emit, launch
from triage.minimize.ir.kernel import Kernel
from triage.minimize.ir.place import NoIR
from triage.minimize.ir.run import SECONDS as IR_SECONDS
from triage.minimize.ir.run import Result as ReducedIR
from triage.minimize.ir.run import reduce_ir
from triage.minimize.kept import Kept
from triage.minimize.launching import Launching
from triage.minimize.oracle import BudgetUsed, Failure, Identity, Oracle, Verdict
from triage.minimize.search import Search
from triage.minimize.source.names import undefined
from triage.minimize.specimen import Specimen, body_lines, tokens
from triage.model.case import Case
from triage.model.document import Doc, Documented, Internal
from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.source.module import Module
from triage.source.siblings import with_siblings

MOST_COMPILES, MOST_SECONDS = 4000, 1200.0
"""What a reduction may use unless it is told otherwise: many times what kernels of forty lines took."""
_UNBOUNDED = (1 << 30, float("inf"))
SCHEMA = "triton-triage/minimized/1"
DOCUMENT = "minimized.json"
"""Beside the result: what became of it when it was run."""
STOPPED = "stopped"
"""How ``ended`` begins where triage could not tell any more."""


@dataclass(frozen=True, slots=True)
class Options:
    """``repeat``: compiles a candidate; None: found out. ``compiles`` and ``seconds`` bound the search; ``folder`` is
    where the result goes, and what an earlier run left there is gone on from with ``resume``. ``triton`` and
    ``python`` choose the toolchain as for ``triage check``. ``launch``: write a reproducer that launches as well, and
    launch what compiles where the failure is none of compiling. ``ir``: take it down to the failing pass as well."""

    folder: Path
    triton: str | None = None
    python: str | None = None
    limits: Limits = field(default_factory=Limits)
    jobs: int | None = None
    repeat: int | None = None
    compiles: int = MOST_COMPILES
    seconds: float = MOST_SECONDS
    anonymize: bool = False
    resume: bool = True
    launch: bool = False
    ir: bool = True


@dataclass(frozen=True, slots=True)
class Size(Documented):
    """Tokens of the file, lines of the kernel's body."""

    tokens: int
    lines: Annotated[int, Doc(name="body_lines")]

    @classmethod
    def of(cls, specimen: Specimen) -> Size:
        """That of a specimen."""
        try:
            lines = body_lines(specimen.text, specimen.case.name)
        except SyntaxError:
            lines = 0
        return cls(tokens(specimen.text), lines)


@dataclass(frozen=True, slots=True)
class OtherFailure(Documented):
    """A failure that was met on the way."""

    signature: str
    headline: str


@dataclass(frozen=True, slots=True)
class Minimized(Documented):
    """The result of a reduction. ``reproduced``: exit codes of two runs of ``reproducer.py``; ``confirmed``: the case
    on disk, compiled anew, has the signature. ``ended``: ``complete``, ``budget``, ``interrupted`` or what broke.
    ``anonymous``: None where that was not asked. ``findings``: other failures met on the way, by signature.
    ``launched``: exit codes of two runs of ``reproducer_launch.py``; None where it was not asked for, not written, or
    could not launch here, as ``not_launched`` says. ``script`` is what ``reproduced`` is of: a failure that needs a
    launch has that file alone. ``ir``: the failing pass and the module before it; None where there is none, as
    ``no_ir`` says."""

    schema_name: ClassVar[str] = SCHEMA

    case: Case
    folder: Path
    signature: str
    headline: str
    rate: float
    repeat: int
    before: Size
    after: Size
    compiles: int
    seconds: Annotated[float, Doc(digits=1)]
    ended: str
    confirmed: bool
    reproduced: tuple[int, int]
    anonymous: bool | None
    findings: Internal[dict[str, str]]
    script: Annotated[Path, Doc(name="reproducer")]
    launched: tuple[int, int] | None = None
    not_launched: str | None = None
    ir: ReducedIR | None = None
    no_ir: str | None = None

    @property
    def holds(self) -> bool:
        """Whether what is on disk was seen to fail as the original does, in every way that was tried, and nothing
        broke on the way."""
        shown = self.reproduced == (1, 1) and self.launched in (None, (1, 1))
        return self.confirmed and shown and not self.ended.startswith(STOPPED)

    @property
    def other_failures(self) -> Annotated[tuple[OtherFailure, ...], Doc(name="findings")]:
        """``findings`` as documents have them."""
        return tuple(OtherFailure(signature, headline) for signature, headline in self.findings.items())

    def restored(self, derived: Mapping[str, Any]) -> Minimized:
        """With ``findings``."""
        return replace(self, findings={one.signature: one.headline for one in derived["other_failures"]})

    def stored(self) -> dict[str, Any]:
        """The same for the folder itself: paths are relative to it, and of an anonymous result nothing is the
        original's."""
        document = self.to_json() | {"folder": ".", "reproducer": self.script.name}
        if self.ir is not None:
            names = {
                name: f"{path.parent.name}/{path.name}"
                for name, path in (("file", self.ir.file), ("script", self.ir.script))
            }
            document["ir"] |= names
        return document | ({"findings": []} if self.anonymous else {})


def minimize(case: Case, options: Options, progress: Progress | None = None) -> Minimized:
    """Reduce a case. An interrupt (KeyboardInterrupt) ends the search and keeps the best. Raises InputError when the
    case does not fail, EnvironmentFault when it cannot be told whether it does."""
    progress = progress or Progress()
    progress.caveats([case.target])
    toolchains = Toolchains(progress=progress.note)
    triton = options.triton or (None if options.python else case.triton)
    toolchain = toolchains.resolve(triton, options.python)
    case = replace(case, triton=toolchain.triton)
    original = _original(case)
    identity = hashlib.sha256(json.dumps([original.key(), toolchain.identity]).encode()).hexdigest()[:24]
    kept = Kept(options.folder, identity)
    earlier = kept.open()
    earlier = earlier if options.resume else None
    try:
        with (
            TemporaryDirectory(prefix="triage-minimize-") as folder,
            (Launching if options.launch else Engine)(options.jobs, spare=toolchains.installed) as engine,
        ):
            until = time.monotonic() + options.seconds
            oracle = Oracle(engine, toolchain, options.limits, Path(folder), options.compiles, until)
            oracle.told = kept.tell
            done = _Reduction(original, options, progress, toolchain, kept, oracle).run(earlier)
            kept.write(DOCUMENT, json.dumps(done.stored(), indent=2) + "\n")
            return done
    finally:
        kept.close()


def _original(case: Case) -> Specimen:
    if case.is_ir:
        raise InputError(f"{case.path}: is IR, and minimize begins with the kernel's source; give that")
    try:
        text = case.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{case.path}: cannot be read as text: {error}") from None
    module = Module.parse(text)
    return Specimen(text, case, frozenset(undefined(module.tree)) if module else frozenset())


@dataclass(slots=True)
class _Reduction:
    original: Specimen
    options: Options
    progress: Progress
    toolchain: Toolchain
    kept: Kept
    oracle: Oracle

    def run(self, earlier: tuple[Case, str, dict[str, Verdict]] | None) -> Minimized:
        started, oracle = time.monotonic(), self.oracle
        # Neither what is needed to begin nor what is needed to end is the search's: a budget never stops those.
        most, until = oracle.most, oracle.until
        oracle.most, oracle.until = _UNBOUNDED
        self.progress.step("compiling the original, to see how reliably it fails")
        failure = oracle.learn(self.original, self.options.repeat)
        start = self._start(earlier)
        before = Size.of(self.original)
        search = Search(oracle, start, self._improved, self._say(before, lambda: search.best))
        self.kept.save(start)
        oracle.most, oracle.until = most, until
        ended, anonymous = self._search(search)
        oracle.most, oracle.until = _UNBOUNDED
        case, confirmed, failure = self._settled(search, failure)
        self.progress.step("running the reproducer twice")
        script, reproduced, launched, why = self._shown(search.best, failure)
        reduced, no_ir = self._ir(case, failure, ended) if confirmed else (None, "the case on disk fails otherwise")
        return Minimized(
            case=case,
            folder=self.kept.folder,
            signature=failure.identity.signature,
            headline=failure.diagnosis.headline,
            rate=failure.rate,
            repeat=oracle.repeat,
            before=before,
            after=Size.of(search.best),
            compiles=oracle.compiles,
            seconds=time.monotonic() - started,
            ended=ended,
            confirmed=confirmed,
            reproduced=reproduced,
            anonymous=anonymous,
            findings=dict(oracle.findings),
            script=script,
            launched=launched,
            not_launched=why,
            ir=reduced,
            no_ir=no_ir,
        )

    def _settled(self, search: Search, failure: Failure) -> tuple[Case, bool, Failure]:
        """The best on disk and observed once more, with the original's whole time; where it is slow, not endless, with
        the time that candidates had to run into. Where it does not fail alike, the last on the way to it that does."""
        self.progress.step("compiling the result once more")
        case = self.kept.save(search.best, last=True)
        confirmed, seen = self._confirmed(case, failure)
        if not confirmed and self.oracle.shorten():
            confirmed, seen = self._confirmed(case, failure)
        if confirmed:
            return case, True, seen
        low, high = 0, len(search.history) - 1
        while low < high:
            middle = (low + high + 1) // 2
            holds, _ = self._confirmed(self.kept.save(search.history[middle], last=True), failure)
            low, high = (middle, high) if holds else (low, middle - 1)
        search.best = search.history[low]
        case = self.kept.save(search.best, last=True)
        return case, *self._confirmed(case, failure)

    def _ir(self, case: Case, failure: Failure, ended: str) -> tuple[ReducedIR | None, str | None]:
        """The failing pass and the module before it, or why there is none."""
        if not self.options.ir:
            return None, "it was not asked for"
        if launch.needed(failure.outcome):
            return None, "it compiles: only its launch fails"
        oracle = self.oracle
        # Who ended the search waits for the end: the module stays as large as it is.
        seconds = min(IR_SECONDS, self.options.seconds) if ended in ("complete", "budget") else 0.0
        kernel = Kernel(case, failure, self.toolchain, oracle.limits, oracle.repeat)
        folder, scratch = self.kept.folder, oracle.folder / "ir"
        try:
            return reduce_ir(kernel, oracle.engine, folder, scratch, self.progress.step, seconds), None
        except NoIR as reason:
            return None, str(reason)
        except EnvironmentFault as error:
            return None, f"could not tell: {error}"
        except KeyboardInterrupt:
            return None, "interrupted"

    def _shown(
        self, best: Specimen, failure: Failure
    ) -> tuple[Path, tuple[int, int], tuple[int, int] | None, str | None]:
        """Write the reproducers and run each twice."""
        oracle, triton = self.oracle, self.toolchain.triton
        patience_s = oracle.limits.timeout_s
        by_launch = launch.needed(failure.outcome)
        script = self.kept.folder / (launch.FILE if by_launch else "reproducer.py")
        launched, why = self._launched(best, failure, by_launch) if self.options.launch else (None, None)
        if by_launch:
            return script, launched or (125, 125), launched, why
        text = emit.reproducer(best, failure, triton, failure.diagnosis.headline)
        script.write_text(text, encoding="utf-8")
        return script, emit.run_twice(script, self.toolchain, patience_s), launched, why

    def _launched(self, best: Specimen, failure: Failure, by_launch: bool) -> tuple[tuple[int, int] | None, str | None]:
        """Exit codes of the reproducer that launches, or why it was not launched here."""
        # What the oracle launched with is what shows the failure; what only compiled may launch as the original does.
        stated = [best.case.inputs] if by_launch else [best.case.inputs, self.original.case.inputs]
        try:
            made = launch.arguments(best.case, *stated)
        except launch.CannotLaunch as error:
            return None, f"{launch.FILE} was not written: {error}"
        script = self.kept.folder / launch.FILE
        script.write_text(launch.reproducer(best, made, failure, self.toolchain.triton), encoding="utf-8")
        first, second = (emit.run_once(script, self.toolchain, self.oracle.limits.timeout_s) for _ in range(2))
        for ran in (first, second):
            if ran.said.startswith(launch.NOT_LAUNCHED):
                return None, f"{launch.FILE} was not launched here:{ran.said.removeprefix(launch.NOT_LAUNCHED)}"
        return (first.code, second.code), None

    def _start(self, earlier: tuple[Case, str, dict[str, Verdict]] | None) -> Specimen:
        """The best of an earlier run that still fails alike, else the original in a single file where that does."""
        oracle, original = self.oracle, self.original
        if earlier is not None:
            case, text, tried = earlier
            found = Specimen(text, replace(case, folder=original.case.folder), original.loose)
            oracle.siblings = False
            if oracle.ask([found])[0] is Verdict.SAME:
                oracle.known |= tried
                self.progress.note(f"going on from {self.kept.folder}, where {len(tried)} candidates were tried")
                return found
            oracle.siblings = True
        whole = with_siblings(original)
        oracle.siblings = False
        oracle.known.pop(original.key(), None)
        for candidate in [whole] if whole == original else [whole, original]:
            if oracle.ask([candidate])[0] is Verdict.SAME:
                return candidate
        raise EnvironmentFault(
            f"{original.case.path}: fails otherwise in a file of its own; what it imports from beside it cannot be "
            "written out in its place"
        )

    def _improved(self, specimen: Specimen) -> None:
        self.kept.save(specimen)

    def _say(self, before: Size, best: Callable[[], Specimen]) -> Callable[[str], None]:
        def say(what: str) -> None:
            size = Size.of(best())
            share = 100 * size.tokens // max(before.tokens, 1)
            self.progress.step(
                f"{what}: {size.tokens} of {before.tokens} tokens ({share} %), {size.lines} lines, "
                f"{self.oracle.compiles} compiles"
            )

        return say

    def _search(self, search: Search) -> tuple[str, bool | None]:
        anonymous: bool | None = None
        try:
            search.run()
            ended = "complete"
        except BudgetUsed:
            ended = "budget"
        except KeyboardInterrupt:
            ended = "interrupted"
        except EnvironmentFault as error:
            return f"{STOPPED}: {error}", None
        if self.options.anonymize:
            # Whatever ended the search: what was asked to be nobody's is not shown otherwise.
            self.oracle.most, self.oracle.until = _UNBOUNDED
            anonymous = search.anonymize()
        return ended, anonymous

    def _confirmed(self, case: Case, failure: Failure) -> tuple[bool, Failure]:
        """The case on disk once more, observed; its own texts are what the reproducer looks for."""
        found = self.oracle.confirm(case)
        if found is None or Identity.of(found[0]) != failure.identity:
            return False, failure
        return True, replace(failure, diagnosis=found[0], outcome=found[1])
