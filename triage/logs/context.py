"""Context of the failures in a log: the pass and the stage that ran, and whose traceback it is."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from triage.ir import passes
from triage.logs.evidence import LAUNCH
from triage.logs.patterns import regex
from triage.logs.recognisers.silent_pass import failed_pass

_STAGE = regex(r",? in make_(ttir|ttgir|llir|ptx|cubin|amdgcn|hsaco)\b")
_FRONTEND = regex(r",? in (?:make_ir|ast_to_ttir)\b")
# What a kernel's source calls while it is read.
_OF_FRONTEND = regex(r"[\\/]triton[\\/](?:language[\\/]\w{1,40}|compiler[\\/]code_generator)\.py\b")
# LLVM's "stack dump".
_RUNNING = regex(r"Running pass ['\"](?P<name>[^'\"]{1,200})['\"] on (?:function|module|basic block|loop)")

# LLVM's "stack dump" of `triton-opt k.mlir -one-pass`: with several passes it does not tell which of them ran.
_ARGUMENTS = regex(r"Program arguments: \S{0,1000}-opt\b(?P<arguments>.{0,4000})")
_PASS_ARGUMENT = regex(
    r" --?(?P<name>(?:convert|triton|nvgpu|tritongpu|allocate|ttg|gluon|canonicalize|cse|loop|test)[\w-]{0,100})"
)

_BLOCK = regex(r"\s{0,40}\.(?:req|max)ntid (?P<numbers>\d{1,9}(?:, \d{1,9}){0,2})$")

_TRACEBACK = "Traceback (most recent call last)"
# Python's own frames, pytest's, IPython's and Colab's.
_FRAME = regex(
    r'^ {0,40}File "(?P<python>[^"]{1,1000})", line \d|^(?P<pytest>[^\s:"]{1,400}\.py):\d{1,7}: (?:in )?\w'
    r"|^File (?P<ipython>[^\s:\"]{1,400}\.py):\S{1,400}, in \w"
    r"|^\[?(?P<colab>[^\s\]]{1,400}\.py)(?:\]\(\S{0,400}\))? in \w"
)
_OF_TRITON = regex(
    r"triton(?!server|client|_python_backend)|inductor|cutlass|helion|gluon|<torch_package|[\\/]_?dynamo[\\/]",
    re.IGNORECASE,
)
#: Where something else begins, whose failure does not follow from those above: pytest's and unittest's line above each
#: failing test, a request to a server, a command at a prompt.
_BOUNDARY = regex(
    r"_{5,} .{1,200} _{5,}$|(?:ERROR|FAIL): test\w{0,200}(?: \(|$)|(?:\[INFO\] )?got prompt$"
    r"|(?:\([\w.-]{1,80}\) {1,2})?(?:\[?[\w.-]{1,80}@[\w.-]{1,80}[: ][^$]{0,200})?\$ [\w./~]"
)

#: A line must contain one of these to be relevant for :meth:`Context.see`.
ANCHORS = (
    passes.ANCHOR,
    "Pipeline failed while executing ",
    "Running pass ",
    "Program arguments: ",
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
    'File "',
    ".py:",
    ".py](",
    ".py in ",
    "_____ ",
)


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

    def see(self, position: int, line: str) -> None:
        """Collect the facts of a line."""
        if passes.ANCHOR in line:
            self._see_dump(line)
        elif "Pipeline failed while executing " in line:
            failed = failed_pass(line) if len(self.failed) < 1000 else None
            self.failed += [(position, failed)] if failed else []
        elif "Running pass " in line and (running := _RUNNING.search(line)):
            self.dumped = running["name"]
        elif "Program arguments: " in line and (program := _ARGUMENTS.search(line)):
            names = _PASS_ARGUMENT.findall(program["arguments"])
            self.dumped = names[0] if len(names) == 1 else self.dumped
        elif "ntid " in line and (block := _BLOCK.match(line)):
            self.threads = math.prod(int(number) for number in re.findall(r"\d{1,9}", block["numbers"]))
        elif passes.REPRODUCER_ANCHOR in line:
            self.dumped = self.dumped or passes.single_pass(line)
        elif _TRACEBACK in line:
            self._in_traceback, self._of_triton = True, False
        elif (
            "$ " in line or line.startswith(("_____", "ERROR: ", "FAIL: ")) or line.endswith("got prompt")
        ) and _BOUNDARY.match(line):
            self.part_begins(position)
        elif (".py" in line or 'File "' in line) and (frame := _FRAME.match(line)):
            self._see_frame(line, frame)

    def part_begins(self, position: int) -> None:
        """Note that the line at ``position`` is of another test, request or command than those above."""
        self.boundaries += [position] if len(self.boundaries) < 10_000 else []
        self._in_traceback = False

    def _see_dump(self, line: str) -> None:
        header = _header(line)
        if header is None:
            return
        self.dumped = header.argument or header.name or self.dumped
        # A pipeline has some hundred passes; a longer list is not a pipeline's.
        if header.name and header.argument and len(self._arguments) < 1000:
            self._arguments[header.name] = header.argument

    def _see_frame(self, line: str, frame: re.Match[str]) -> None:
        self._in_traceback = True
        self._of_triton = self._of_triton or _OF_TRITON.search(frame[frame.lastgroup or 0]) is not None
        if match := _STAGE.search(line):
            self.stage = match.group(1)
        elif self.stage is None and (_FRONTEND.search(line) or _OF_FRONTEND.search(line)):
            self.stage = "source"

    def end_traceback(self, before: Sequence[str]) -> bool | None:
        """Whether the traceback that ends here is one without Triton; None where there is none. ``before`` are the
        lines above."""
        foreign = not self._of_triton and not any(map(LAUNCH.search, before)) if self._in_traceback else None
        self._in_traceback = self._of_triton = False
        return foreign

    def pass_at(self, position: int) -> str | None:
        """The pass that ran when the failure at ``position`` was printed."""
        for failed_at, name in self.failed:
            if failed_at >= position:
                return name
        return self.dumped

    def argument_of(self, name: str) -> str:
        """The pass as ``mlir-opt`` spells it, where the log shows that: ``convert-triton-gpu-to-llvm``."""
        return self._arguments.get(name, name)
