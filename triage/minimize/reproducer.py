"""Writes ``reproducer.py``: one file that needs only the compiler, reports whether the failure occurs, and never takes
another failure for it."""

import pprint
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from triage.filesystem import scratch
from triage.harness.deadline import Deadline
from triage.harness.environment import worker_environment
from triage.harness.processes import run_bounded
from triage.harness.toolchains import Toolchain
from triage.logs.clean import strip_control
from triage.logs.signature import MAX_FIELD
from triage.logs.signature_fields import Field, fields
from triage.minimize import cute_script
from triage.minimize.failure import OriginalFailure
from triage.minimize.problem import BudgetUsed
from triage.minimize.source.arguments import literal
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.outcome import Outcome, Stage

_BEFORE_COMPILE_S = 60.0
"""Time to start Python and to import the compiler, on top of a compile."""
_START_S = 5.0
"""The same where the failure is a time-out: short, so that a compile that does end is not taken for one."""
_LOOSE = {
    r"\s+": r"\s+",
    r"0x[0-9a-fA-F]+": "0x[0-9a-fA-F]+",
    r"(?<=line )\d+|(?<=:)\d+(?![\w.])": r"\d+",
    r"(?<=[%#!])[\w.]*\d\b": r"[\w.]+",
    r"\btmp\w{6,12}": r"tmp\w+",
    r"(?:\b[A-Za-z_]\w*\.)+(?=\w+?__P{0,3}(?:[iu]|fp|bf)\d)": r"(?:\w+\.)+",
    r"\bt\d+(?=[:,])": r"t\d+",
    r"(?<![\w.])\d{2,}(?!\w)": r"\d+",
}
"""Texts that differ between two processes or releases, and the pattern for each: spaces, addresses, lines, names of
values and aliases, temporary files, modules of mangled functions, nodes of a selection graph, numbers. A single digit
and a number inside a word stay as they are: ``axis 2`` and ``.s33`` distinguish failures."""
_VARIES = re.compile("|".join(f"({pattern})" for pattern in _LOOSE))
_PREFIXES = r" *(?:= note|error(?:\[\w+\])?): (?:[\w ]+(?:exception|in `\w+`): )?"
"""Prefixes of CuTe DSL's diagnostics."""
_LINE_START = rf"(?m)^(?:{_PREFIXES})?(?:[\w.]+(?:: |\(['\"]))?"
"""The compiler's own message begins a line, after an exception's name at most. The kernel's source, which it quotes,
may contain the same text: the message of an assertion that holds."""
_FUTURE = re.compile(r"^from __future__ import [\w, ]+$", re.MULTILINE)
"""Must come first in a file."""
_MARK = re.compile(r"@[A-Z]+@")
_LEAST_TEXT = 6
_MOST_TEXTS = (MAX_FIELD, 120)
"""As much as the signature has; less where that much is not printed in one piece."""
_ILLEGAL_ACCESS = r"illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS"
_PREFIX = re.compile(r"^.*?\berror: ")
_STAGES_WITH_FUNCTION = frozenset(
    {Stage.TTIR, Stage.TTGIR, Stage.LLIR, Stage.PTX, Stage.CUBIN, Stage.AMDGCN, Stage.HSACO}
)
"""Stages with a Python function of their own."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the reproducer looks for: a text (a regular expression), a signal, both, or no end within ``timeout_s``."""

    pattern: str | None = None
    signal: str | None = None
    timeout_s: float | None = None
    limit: tuple[str, int] | None = None

    def settings(self) -> dict[str, Any]:
        """The settings that every reproducer has."""
        return {"EXPECTED": self.pattern, "SIGNAL": self.signal, "TIMEOUT_S": self.timeout_s}


def expected(diagnosis: Diagnosis, outcome: Outcome) -> Expected:
    """What every process with the failure shows."""
    if diagnosis.kind is Kind.TIMEOUT:
        return Expected(timeout_s=(outcome.limit_s or 0.0) + _START_S)
    if outcome.beyond_shared is not None:
        return Expected(pattern=_ILLEGAL_ACCESS)  # by a launch: the compile shows nothing
    if diagnosis.kind is Kind.OUT_OF_RESOURCES and outcome.over_limit and diagnosis.limit is not None:
        resource = outcome.over_limit.partition(":")[0]
        return Expected(pattern=_tolerant(f"out of resource: {resource}"), limit=(resource, diagnosis.limit))
    if diagnosis.kind is Kind.OUT_OF_RESOURCES and diagnosis.resource is not None:
        pattern = _tolerant(f"out of resource: {diagnosis.resource}")
        if re.search(pattern, outcome.log):
            return Expected(pattern=pattern)
    lines = [outcome.log, *(f"{error.type}: {error.message}" for error in outcome.errors)]
    printed = "\n".join(map(strip_control, lines))
    named = [field for field in fields(diagnosis) if len(field.text) >= _LEAST_TEXT]
    by_text = {field.text: shown for field in named if (shown := _pattern(field, printed))}
    if by_text.keys() - {diagnosis.file}:
        patterns = list(by_text.values())
        if len(patterns) > 1:
            return Expected(pattern="(?s)\\A" + "".join(f"(?=.*{pattern})" for pattern in patterns))
        anchored = _LINE_START + patterns[0]
        front_end = diagnosis.kind is Kind.FRONTEND_ERROR and re.search(anchored, printed) is not None
        return Expected(pattern=anchored if front_end else patterns[0])
    for text in _texts(diagnosis):
        if len(text) >= _LEAST_TEXT and (shown := _pattern(Field(text), printed)):
            return Expected(pattern=shown)
    # Nothing was printed; the Python stack at the signal shows the stage.
    inside = (
        rf"line \d+ in make_{outcome.stage.value}\b"
        if outcome.signal and outcome.stage in _STAGES_WITH_FUNCTION
        else None
    )
    return Expected(pattern=inside, signal=outcome.signal)


def _texts(diagnosis: Diagnosis) -> list[str]:
    """Other texts that may name the failure, where the parts of its signature were not printed."""
    line = diagnosis.message.partition("\n")[0].strip()
    # Python prints an exception within another as NameError("text"): the text alone is in both.
    return [_PREFIX.sub("", line), line, line.partition(": ")[2], diagnosis.headline, *diagnosis.notes]


def _pattern(field: Field, printed: str) -> str | None:
    """A pattern for as much of the field as was printed; None where that is not enough."""
    for most in _MOST_TEXTS:
        text = field.text if len(field.text) <= most else field.text[:most].rpartition(" ")[0]
        pattern = _exact(text) if field.verbatim else _tolerant(text)
        if text and re.search(pattern, printed):
            return pattern
    return None


def _exact(text: str) -> str:
    """A pattern for the text with any spaces: the numbers in an assertion are the bug."""
    return r"\s+".join(re.escape(word) for word in text.split())


def _tolerant(text: str) -> str:
    """A pattern for the text that matches whatever differs between two processes."""
    parts, end = list[str](), 0
    for varying in _VARIES.finditer(text):
        assert varying.lastindex is not None
        parts += [re.escape(text[end : varying.start()]), list(_LOOSE.values())[varying.lastindex - 1]]
        end = varying.end()
    return "".join([*parts, re.escape(text[end:])])


def reproducer(specimen: Specimen, failure: OriginalFailure, release: str) -> str:
    """The text of ``reproducer.py``, which compiles and needs no GPU."""
    compiler = specimen.case.compiler
    shown = expected(failure.diagnosis, failure.outcome)
    settings = {
        "HEADLINE": failure.diagnosis.headline,
        **shown.settings(),
        "LIMIT": shown.limit,
        "PATIENCE_S": patience_s(failure.outcome),
    }
    parts = {
        "@NEEDS@": f"no GPU and nothing but {compiler.title}: pip install {compiler.distribution}=={release}",
        "@DOES@": "compiles",
        "@MISSING@": "",
        "@LAST@": "compile",
    }
    if compiler == CUTE:
        settings["ENVIRONMENT"] = cute_script.environment(specimen.case)
        parts["@ENVIRONMENT@"] = '"CUTE_DSL_DUMP_DIR": cache, **_ENVIRONMENT'
        parts["@COMPILER@"] = cute_script.compiler(release, has_limit=shown.limit is not None)
        return script(specimen, settings, parts, cute_script.call(specimen, release))
    work = {
        "@WORK@": filled("reproducer_compile.py.txt", {}),
        "@ACTIVE@": 'if hasattr(_driver, "set_active"):\n    _driver.set_active(_Driver(_TARGET))',
    }
    return triton_script(specimen, settings, parts, work, f"_compile({specimen.case.name})")


def triton_script(
    specimen: Specimen, settings: dict[str, Any], parts: dict[str, str], work: dict[str, str], *last: str
) -> str:
    """A reproducer of a Triton or Gluon kernel. ``work``: by its marks, what is done with the kernel."""
    case = specimen.case
    constants = ", ".join(f"{name!r}: {literal(value)}" for name, value in case.constexprs.items())
    call = [
        f"_SIGNATURE = {python(dict(case.signature))}",
        f"_CONSTEXPRS = {{{constants}}}",
        f"_DIVISIBLE = {python([name for name, value in case.divisibility().items() if value == 16])}",
        f"_OPTIONS = {python(dict(case.options))}",
        *last,
    ]
    parts = {
        **parts,
        "@ENVIRONMENT@": '"TRITON_CACHE_DIR": cache',
        "@COMPILER@": filled("reproducer_triton.py.txt", {**work, "@GPU@": gpu(case)}),
    }
    return script(specimen, settings, parts, call)


def script(specimen: Specimen, settings: dict[str, Any], parts: dict[str, str], call: list[str]) -> str:
    """A reproducer: the template with its settings, ``parts`` by their marks, the specimen, and the lines that compile
    it."""
    text = "\n".join(call)
    imports = [
        line
        for root, line in _IMPORTS.items()
        if re.search(rf"(?<![\w.]){root}\.", text) and line not in specimen.text.splitlines()
    ]
    fillings = {
        **parts,
        "@SETTINGS@": assignments(settings),
        "@FUTURE@": "".join(f"{line}\n" for line in _FUTURE.findall(specimen.text)),
        "@CALL@": "\n".join([*imports, *call]),
        "@KERNEL@": _FUTURE.sub("", specimen.text).strip("\n"),
    }
    return filled("reproducer.py.txt", fillings) + "\n"


def filled(name: str, parts: Mapping[str, str]) -> str:
    """The text of a template beside this file with its marks replaced, without the line ends around it."""
    text = resources.files("triage.minimize").joinpath(name).read_text(encoding="utf-8").strip("\n")
    # In one pass: the user's own text may contain the same marks.
    return _MARK.sub(lambda mark: parts[mark[0]], text)


def gpu(case: Case) -> str:
    """The arguments of Triton's ``GPUTarget`` for a case."""
    return f"{case.target.backend!r}, {case.target.capability or case.target.arch!r}, {case.target.warp_size}"


def assignments(settings: Mapping[str, Any]) -> str:
    """The settings at the top of a script."""
    return "\n".join(f"_{name} = {python(value)}" for name, value in settings.items())


def patience_s(outcome: Outcome) -> float:
    """Seconds after which a process that repeats this compile cannot tell any more."""
    return (outcome.limit_s or 0.0) + _BEFORE_COMPILE_S


_IMPORTS = {
    "tl": "import triton.language as tl",
    "triton": "import triton",
    "gl": "from triton.experimental.gluon import language as gl",
    "ttgl": "from triton.experimental.gluon import language as ttgl",
    "gluon": "from triton.experimental import gluon",
    "cutlass": "import cutlass",
    "cute": "from cutlass import cute",
}


def python(value: object) -> str:
    """A value as source text."""
    return pprint.pformat(value, width=110, sort_dicts=False)


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """How one run of a reproducer ended: its exit code (-1 where it did not end), and the last line that it printed."""

    code: int
    last_line: str


def run_twice(script: Path, toolchain: Toolchain, patience_s: float, deadline: Deadline) -> tuple[int, int]:
    """Exit codes of the script in two fresh processes. Raises BudgetUsed."""
    first, second = (run_once(script, toolchain, patience_s, deadline).code for _ in range(2))
    return first, second


def run_once(script: Path, toolchain: Toolchain, patience_s: float, deadline: Deadline) -> ScriptRun:
    """Run the script in a fresh process and an empty folder, with the toolchain's Python. Raises BudgetUsed."""
    if deadline.over:
        raise BudgetUsed
    with scratch.folder("reproducer") as folder:
        command = [str(toolchain.python), str(script.resolve())]
        patience_s = min(2 * (patience_s + _BEFORE_COMPILE_S), deadline.left_s)
        try:
            done = run_bounded(command, patience_s, folder, worker_environment())
        except subprocess.TimeoutExpired:
            if deadline.over:
                raise BudgetUsed from None
            return ScriptRun(-1, "it did not end")
        printed = (done.stdout.strip() or done.stderr.strip()).decode(errors="replace")
        return ScriptRun(done.returncode, printed.rpartition("\n")[2])
