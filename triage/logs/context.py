"""Context of the failures in a log: the pass and the stage that ran, and whose traceback it is."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from triage.ir import passes
from triage.logs.cute_texts import OF_PACKAGE, OF_RUNTIME
from triage.logs.evidence import LAUNCH
from triage.logs.named_pass import ENCOUNTERS
from triage.logs.patterns import regex
from triage.logs.recognisers.silent_pass import failed_pass
from triage.logs.user_frames import frame_file, generated_line, is_innermost_first, is_installed, users_line
from triage.model.diagnosis import SourceLocation

# Up to 2.3 the functions are named by what they read and write.
_STAGE = regex(
    r",? in (?:make_|optimize_|(?:ttir|ttgir|llir|ptx)_to_|translate_\w{1,20}_to_)"
    r"(ttir|ttgir|llir|ptx|cubin|amdgcn|hsaco)\b"
)
_FRONTEND = regex(r",? in (?:make_ir|ast_to_ttir)\b")
_TRITONS_FILE = regex(
    r"(?:-packages|[\\/]python)[\\/]triton[\\/]|[\\/]triton[\\/](?:language|compiler|runtime|backends|experimental)[\\/]"
)
_RAISED_IN = regex(
    r"(?:\", line |\.py:)(?P<line>\d{1,7})(?:,|:) in (?P<function>[A-Za-z_][\w.]{0,200})"
    r"(?:\(.{0,1000}\))?$"
)
# What a kernel's source calls while it is read.
_OF_FRONTEND = regex(r"(?<![\w.-])triton[\\/](?:language[\\/]\w{1,40}|compiler[\\/]code_generator)\.py\b")
# LLVM's "stack dump".
_RUNNING = regex(r"Running pass ['\"](?P<name>[^'\"]{1,200})['\"] on (?:function|module|basic block|loop)")
_ENCOUNTERS = regex(ENCOUNTERS)

# LLVM's "stack dump" of `triton-opt k.mlir -one-pass`: with several passes it does not tell which of them ran.
_ARGUMENTS = regex(r"Program arguments: \S{0,1000}-opt\b(?P<arguments>.{0,4000})")
_PASS_ARGUMENT = regex(
    r" --?(?P<name>(?:convert|triton|nvgpu|tritongpu|allocate|ttg|gluon|canonicalize|cse|loop|test)[\w-]{0,100})"
)

_BLOCK = regex(r"\s{0,40}\.(?:req|max)ntid (?P<numbers>\d{1,9}(?:, \d{1,9}){0,2})$")

_TRACEBACK = "Traceback (most recent call last)"
_OF_TRITON = regex(
    r"triton(?!server|client|_python_backend)|inductor|(?<!\w)cutlass|cutlass_dsl|helion|gluon|<torch_package|[\\/]_?dynamo[\\/]"
    r"|[\\/]cute[\\/]",
    re.IGNORECASE,
)
# Calls that trace a kernel of CuTe DSL, as frames show them: parts of their lines, and the lines.
_CUTE_CALLS = ("cute.compile(", ".launch(")
#: What benchmarks call of Triton's, whose frames an exception about the call itself does not have.
_TRITON_CALL = "triton.testing."
_TRACES = regex(r"\bcute\.compile\(|\.launch\((?:grid=.{1,300}\bblock=|$)")
#: Where something else begins, whose failure does not follow from those above: pytest's and unittest's line above each
#: failing test, a request to a server, a command at a prompt.
_BOUNDARY = regex(
    r"_{5,} .{1,200} _{5,}$|(?:ERROR|FAIL): test\w{0,200}(?: \(|$)|(?:\[INFO\] )?got prompt$"
    r"|(?:\([\w.-]{1,80}\) {1,2})?(?:\[?[\w.-]{1,80}@[\w.-]{1,80}[: ][^$]{0,200})?\$ [\w./~]"
)

#: A line must contain one of these to be relevant for :meth:`Context.see`.
ANCHORS = (
    passes.ANCHOR,
    "Pipeline failed while executing",
    "Running pass ",
    "Program arguments: ",
    "] encounters error:",
    ".reqntid ",
    ".maxntid ",
    "$ python",
    "$ pytest",
    "$ torchrun",
    "$ triton-opt",
    "$ ./",
    "$ TRITON",
    "$ CUDA",
    "ERROR: test",
    "FAIL: test",
    "got prompt",
    passes.REPRODUCER_ANCHOR,
    "Traceback (most recent",
    *_CUTE_CALLS,
    _TRITON_CALL,
    'File "',
    ".py:",
    ".py](",
    ".py in ",
    ".py, line ",
    ".py`, line ",
    ".py(",
    "Cell In[",
    "Input In [",
    "<ipython-input-",
    "_____ ",
)


@dataclass(frozen=True, slots=True)
class Traceback:
    """What the frames of a traceback show. ``foreign``: none of them is Triton's or CuTe's; ``traces``: CuTe DSL was
    tracing a kernel; ``source``: the innermost line that is the user's, or of what torch generated where none is;
    ``raised``: Triton's innermost line and its function, where there is no such line."""

    foreign: bool
    traces: bool = False
    source: SourceLocation | None = None
    raised: tuple[SourceLocation, str] | None = None


_header = lru_cache(maxsize=512)(passes.header)  # a dump's few hundred headers come again with every kernel


@dataclass(slots=True)
class Context:
    """Collected line by line; complete after the last one, except for ``end_traceback``, which is asked on the way."""

    dumped: str | None = None
    #: Threads of a block, as the PTX states them that Triton prints when ptxas refuses it.
    threads: int | None = None
    stage: str | None = None
    #: (position, name) of every `Pipeline failed` line.
    failed: list[tuple[int, str]] = field(default_factory=list)
    #: Where another test or command begins.
    boundaries: list[int] = field(default_factory=list)
    _arguments: dict[str, str] = field(default_factory=dict)
    # Whether the lines are those of a traceback, and whether it has a frame of Triton.
    _in_traceback: bool = False
    _of_triton: bool = False
    # Whether it has a frame or a call of CuTe DSL's, whether the innermost is of what runs a compiled kernel, and the
    # user's innermost line.
    _of_cute: bool = False
    _runs: bool = False
    _users: SourceLocation | None = None
    # The innermost line of a program that torch generated.
    _generated: SourceLocation | None = None
    # The user's, outside of installed packages.
    _own: SourceLocation | None = None
    # The innermost line of Triton's, and the function that it is in: of all tracebacks, and of the current one.
    _tritons: tuple[SourceLocation, str] | None = None
    _raised: tuple[SourceLocation, str] | None = None
    # Of the last traceback that has one.
    _last: SourceLocation | None = None

    def see(self, position: int, line: str, after: Sequence[str] = ()) -> None:
        """Collect the facts of a line. ``after`` are those below it."""
        if passes.ANCHOR in line:
            self._see_dump(line)
        elif "Pipeline failed while executing" in line:
            failed = failed_pass(line, after) if len(self.failed) < 1000 else None
            self.failed += [(position, failed)] if failed else []
        elif "Running pass " in line and (running := _RUNNING.search(line)):
            self.dumped = running["name"]
        elif "] encounters error:" in line and (fails := _ENCOUNTERS.search(line)):
            self.dumped = fails["stage"]
        elif "Program arguments: " in line and (program := _ARGUMENTS.search(line)):
            names = _PASS_ARGUMENT.findall(program["arguments"])
            self.dumped = names[0] if len(names) == 1 else self.dumped
        elif "ntid " in line and (block := _BLOCK.match(line)):
            self.threads = math.prod(int(number) for number in re.findall(r"\d{1,9}", block["numbers"]))
        elif passes.REPRODUCER_ANCHOR in line:
            self.dumped = self.dumped or passes.single_pass(line)
        elif _TRACEBACK in line:
            self._begin_traceback(True)
        elif self._in_traceback and _TRITON_CALL in line:
            self._of_triton = True
        elif self._in_traceback and any(call in line for call in _CUTE_CALLS) and _TRACES.search(line):
            self._of_cute = self._of_triton = True
        elif (
            "$ " in line or line.startswith(("_____", "ERROR: ", "FAIL: ")) or line.endswith("got prompt")
        ) and _BOUNDARY.match(line):
            self.part_begins(position)
        elif (".py" in line or " In" in line or 'File "' in line or "<ipython" in line) and (file := frame_file(line)):
            self._see_frame(line, file, after)

    def part_begins(self, position: int) -> None:
        """Note that the line at ``position`` is of another test, request or command than those above."""
        self.boundaries += [position] if len(self.boundaries) < 10_000 else []
        self._in_traceback = False

    def _begin_traceback(self, begins: bool) -> None:
        self._last = self._users or self._last
        self._in_traceback, self._of_triton, self._of_cute, self._runs = begins, False, False, False
        self._users = self._own = self._generated = self._raised = None

    def _see_dump(self, line: str) -> None:
        header = _header(line)
        if header is None:
            return
        self.dumped = header.argument or header.name or self.dumped
        # A pipeline has some hundred passes; a longer list is not a pipeline's.
        if header.name and header.argument and len(self._arguments) < 1000:
            self._arguments[header.name] = header.argument

    def _see_frame(self, line: str, file: str, after: Sequence[str]) -> None:
        self._in_traceback = True
        self._of_triton = self._of_triton or _OF_TRITON.search(file) is not None
        if _TRITONS_FILE.search(file) and (raised := _RAISED_IN.search(line.rstrip())):
            self._tritons = self._raised = SourceLocation(file, int(raised["line"])), raised["function"]
        if OF_PACKAGE.search(file):
            self._of_cute, self._runs = True, OF_RUNTIME.search(file) is not None
        elif source := users_line(file, line, after):
            if self._users is not None and is_innermost_first(line):
                return
            self._users = source
            self._own = self._own if is_installed(file) else source
        elif generated := generated_line(file, line):
            self._generated = generated
        if match := _STAGE.search(line):
            self.stage = match.group(1)
        elif self.stage is None and (_FRONTEND.search(line) or _OF_FRONTEND.search(line)):
            self.stage = "source"

    def end_traceback(self, before: Sequence[str]) -> Traceback | None:
        """The traceback that ends here; None where there is none. ``before`` are the lines above."""
        traceback = None
        if self._in_traceback:
            foreign = not self._of_triton and not any(map(LAUNCH.search, before))
            traces = self._of_cute and not self._runs
            source = self._users or self._generated
            traceback = Traceback(foreign, traces, source, None if source else self._raised)
        self._begin_traceback(False)
        return traceback

    @property
    def open_source(self) -> SourceLocation | None:
        """The user's innermost line in a traceback whose end was not seen: outside of packages, because the line that
        launches the kernel may be missing."""
        return (self._own or self._users or self._generated) if self._in_traceback else None

    @property
    def only_tritons(self) -> tuple[SourceLocation, str] | None:
        """Triton's innermost line and its function, where no traceback has a line of the user's."""
        return self._tritons if self.last_source is None else None

    @property
    def only_failed(self) -> str | None:
        """The pass that all `Pipeline failed` lines name."""
        names = {name for _, name in self.failed}
        return names.pop() if len(names) == 1 else None

    @property
    def last_source(self) -> SourceLocation | None:
        """The user's innermost line in the last traceback that has one."""
        return self._users or self._last

    def pass_at(self, position: int) -> str | None:
        """The pass that ran when the failure at ``position`` was printed."""
        for failed_at, name in self.failed:
            if failed_at >= position:
                return name
        return self.dumped

    def argument_of(self, name: str) -> str:
        """The pass as ``mlir-opt`` spells it, where the log shows that: ``convert-triton-gpu-to-llvm``."""
        return self._arguments.get(name, name)
