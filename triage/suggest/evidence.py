"""Evidence in the failure's text for the change that will help: numbers, names, types, and the direction to go.

The compiler's messages are written by many hands, so each fact below has one small pattern, with an example beside
it. A pattern that does not match costs nothing; the generators then fall back on their priors.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Trait
from triage.source.dtypes import canonical_dtype

_MINIMUM = re.compile(r"\b([A-Za-z]\w*) >= (\d+)")
"""``Input shapes should have M >= 1, N >= 1 and K >= 32``"""
_AT_LEAST = re.compile(r"(?:at least|minimum of|not less than|must be >=) (\d+)(?: ?x ?(\d+))?")
"""``the tensor shape must be at least 128x128``"""
_AT_MOST = re.compile(r"(?:less than or equal to|at most|no more than|must be <=|maximum \w+(?: \w+)?) \(?(\d+)")
"""``block size of the return operand must be less than or equal to 256``"""
_MULTIPLE = re.compile(r"(?:multiple of|divisible by) (\d+)")
"""``requires num_warps to be a multiple of 4``"""
_DIMENSION = re.compile(r"\b([MNK]) dim(?:ension)?\b")
"""``WGMMA result M dimension must be divisible by 64``"""
_BYTES = re.compile(r"at least (\d+) bytes .*?got (\d+) \* (\d+) = (\d+) bytes")
"""``must have at least 16 bytes in the last dimension, but got 4 * 2 = 8 bytes``"""
_OFFERED = re.compile(
    r"(?:one of|supported \w+ dtypes are|expected dtype|accepted \w+ are|allowed \w+ are|choose from|valid \w+ are)"
    r"[: ]*([(\[{].*[)\]}])",
    re.IGNORECASE,
)
"""``must be one of ('bf16x3', 'ieee', 'tf32'). Got x`` — greedy, since the values may be bracketed themselves."""
_DTYPE = re.compile(  # also inside tensor<512xf32>
    r"(?:\b|(?<=\dx))(fp8e\w+|f8E\w+|float8e\w+|bf16|bfloat16|fp16|float16|f16|fp32|float32|f32|fp64|float64|f64|u?int\d+|[ui]\d{1,2})\b"
)
_GROW = re.compile(r"at least|>=|too small|must be greater|minimum|underflow|divisible by|multiple of", re.IGNORECASE)
_SHRINK = re.compile(
    r"too large|too much|at most|exceeds?|less than or equal|<=|maximum|out of resource|too many|overflow|reducing",
    re.IGNORECASE,
)
_ARCH = re.compile(
    r"\bsm_?(\d{2,3})|cuda(?: arch)?[ :=<>]+(\d{2,3})\b|compute capability (\d{1,2})\.(\d)", re.IGNORECASE
)
_GFX = re.compile(r"\bgfx[0-9a-f]{3,4}\b")

_CONSTRUCT = re.compile(r"WarpSpecializ|warp[ _-]?speciali|WSDataPartition|WSLowerToken|\bWS[A-Z]\w+|NVWS|ttnvws", re.I)
"""Passes and messages of automatic warp specialization."""


_INSTRUCTION = re.compile(
    r"requires \.target|Cannot select|[Nn]o matching \S.*intrinsic|Feature '|not supported on|"
    r"unsupported (?:rounding|instruction)|Unsupported rounding|Arguments mismatch|"
    r"[Uu]nknown instruction|invalid instruction|not a recognized|instruction not supported|only supported on|"
    r"removed in|needs sm_|Unexpected instruction types"
)
"""No such instruction on this target, or not in this form: ``Feature '.bf16' requires .target sm_80 or higher``"""
_TYPES = re.compile(
    r"same (?:element )?types?\b|element type|must be (?:\w+ )*(?:float|integer)|[Uu]nsupported \w+ dtype|"
    r"unexpected type|type mismatch|[Ii]ncompatible types|bitwidth"
)
"""``op requires the same type for all operands and results``"""
_NEEDED = re.compile(r"[Rr]equired: (\d+), \D*[Ll]imit: (\d+)|(\d+) required, \D*(?:limit is|limit) (\d+)")
"""``Required: 212992, Hardware limit: 101376``"""
_COMMON_WORDS = frozenset(
    {"block", "size", "type", "dtype", "warp", "warps", "stage", "stages", "tile", "mode", "with", "from", "that"}
)


def words_of(text: str) -> frozenset[str]:
    """The telling words of a name or a message, in lower case: ``FAST_TANH`` and ``fastTanh`` are fast and tanh."""
    words = re.findall(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}", text)
    return frozenset(word.lower() for word in words if len(word) > 3) - _COMMON_WORDS


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts of one failure. All sets are empty and all flags false where the text is silent."""

    text: str
    mentions: frozenset[str]
    """Parameters and options named in the message."""
    minimums: dict[str, int]
    """Least values: by dimension letter (``K``), or under ``""`` where no dimension is named."""
    maximums: tuple[int, ...]
    multiples: tuple[int, ...]
    dimensions: frozenset[str]
    numbers: frozenset[int]
    offered: tuple[str, ...]
    """Values that the message itself offers in place of the wrong one."""
    dtypes: frozenset[str]
    architectures: tuple[str, ...]
    scale: tuple[int, int] | None
    """A value in the message and what it must become at least, from ``got 4 * 2 = 8 bytes``."""
    refused: bool
    """The message refuses something outright, as unsupported."""
    grow: bool
    shrink: bool
    lines: tuple[int, ...]
    """Lines of the kernel's file that the failure points at."""
    frontend: bool
    backend: bool
    exhausted: bool
    """Ran out of time or memory: only much less work will end."""
    specialization: bool
    instruction: bool
    """The target has no such instruction, or not in this form: no option of the launch makes one."""
    types: bool
    """Element types do not go together."""
    words: frozenset[str]
    """The telling words of the message."""

    @property
    def required(self) -> tuple[int, int] | None:
        """How much memory the kernel asked for, and the limit; None where the message has no such numbers."""
        match = _NEEDED.search(self.text)
        if match is None:
            return None
        required, limit = (int(number) for number in match.groups() if number)
        return required, limit

    @property
    def shrink_to(self) -> float | None:
        """The limit as a share of the memory asked for; None where the message has no such numbers."""
        required, limit = self.required or (0, 0)
        return limit / required if required else None

    @property
    def over_shared(self) -> bool:
        """Too much shared memory, as the launch or ptxas reports it."""
        return bool(re.search(r"shared memory|too much shared data", self.text)) and self.shrink


def read(case: Case, diagnosis: Diagnosis, log: str) -> Evidence:
    """Gather the facts. The log's tail backs the diagnosis up where that names no line, and only for that."""
    text = f"{diagnosis.headline}\n{diagnosis.message}"
    if diagnosis.resource:
        text += f"\nout of resource: {diagnosis.resource}"
    names = {*case.signature, *case.constexprs, *case.options, "num_warps", "num_stages", "num_ctas"}
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    minimums = {match[1]: int(match[2]) for match in _MINIMUM.finditer(text)}
    least = [int(number) for match in _AT_LEAST.finditer(text) for number in match.groups() if number]
    if least:
        minimums[""] = max(least)
    stage = diagnosis.stage or ""
    python_error = diagnosis.kind.has(Trait.PYTHON)
    return Evidence(
        text=text,
        # One letter (M, K) is a dimension more often than a parameter, and is read as such.
        mentions=frozenset(name for name in names & words if len(name) > 1),
        minimums=minimums,
        maximums=_numbers(_AT_MOST, text),
        multiples=_numbers(_MULTIPLE, text),
        dimensions=frozenset(_DIMENSION.findall(text)),
        numbers=frozenset(
            int(number) for number in re.findall(r"(?<![\w.])\d{1,7}(?![\w.]*\w)", _without_locations(text))
        ),
        offered=_offered(text),
        dtypes=frozenset(canonical_dtype(name) for name in _DTYPE.findall(text)),
        architectures=_architectures(text),
        scale=_scale(text),
        refused=bool(re.search(r"unsupported|not supported|does not support", text, re.IGNORECASE)),
        grow=bool(_GROW.search(text)),
        shrink=bool(_SHRINK.search(text)),
        lines=_lines(case, diagnosis, log),
        frontend=stage in ("source", "ttir") or python_error,
        backend=stage in ("ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco") and not python_error,
        exhausted=diagnosis.kind.has(Trait.EXHAUSTED),
        specialization=bool(_CONSTRUCT.search(f"{text} {diagnosis.file} {diagnosis.pass_name}")),
        instruction=bool(_INSTRUCTION.search(text)),
        types=bool(_TYPES.search(text)),
        words=words_of(_without_locations(text)),
    )


def _numbers(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number for match in pattern.finditer(text) if (number := int(match[1])) > 0))


def _without_locations(text: str) -> str:
    """Line numbers and file names are not about the kernel's numbers."""
    return re.sub(r"[\w./+-]+\.(?:cpp|h|py|td|inc)\"?:\d+(?::\d+)?:?", " ", text)


def _offered(text: str) -> tuple[str, ...]:
    values: list[str] = []
    for match in _OFFERED.finditer(text):
        for end in (i + 1 for i, letter in enumerate(match[1]) if letter in ")]}"):
            try:
                value = ast.literal_eval(match[1][:end])
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(value, tuple | list | set):
                values += sorted(map(str, value)) if isinstance(value, set) else map(str, value)
            break
    return tuple(dict.fromkeys(values))


def _scale(text: str) -> tuple[int, int] | None:
    match = _BYTES.search(text)
    if match is None:
        return None
    needed, elements, element_bytes, _ = map(int, match.groups())
    return elements, -(-needed // max(element_bytes, 1))


def _architectures(text: str) -> tuple[str, ...]:
    named = [sm or cuda or major + minor for sm, cuda, major, minor in _ARCH.findall(text)]
    return tuple(dict.fromkeys([*named, *_GFX.findall(text)]))


def _lines(case: Case, diagnosis: Diagnosis, log: str) -> tuple[int, ...]:
    base = PurePosixPath(case.file).name
    location = diagnosis.source
    if location is not None and PurePosixPath(location.file).name == base:
        return (location.line,)
    where: Iterable[str] = re.findall(re.escape(base) + r"\"?:(\d+):\d+", f"{diagnosis.message}\n{log}")
    return tuple(dict.fromkeys(int(line) for line in where))[:3]
