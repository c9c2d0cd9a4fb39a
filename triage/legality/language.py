"""Constraints of Triton's language on shapes: powers of two, at most 1048576 elements, and what single
operations want of their arguments.

All of it is checked by the front end, before any pass: ``validate_block_shape`` (triton/_utils.py; language/_utils.py
up to 3.3), the operations in triton/language/semantic.py and standard.py, and the verifier of the IR that they make.
What older front ends let pass is illegal here as well where it comes to nothing good:

- a dimension of 0 (up to 3.7) and the results of ``cat`` and ``histogram`` (up to 3.1) fail or crash in a later pass;
- ``topk`` up to 3.8 takes a k that is not a power of two, or longer than the dimension, and returns another number of
  elements; its k of 1 of a single row, and before 3.6 a sort of one element, end in an AttributeError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from triage.legality.dtypes import DType
from triage.legality.explanation import Fact, RuleTable
from triage.legality.release import Series, series
from triage.legality.rule import Given, Judgement, LegalityRule, Parameter, Syntax
from triage.legality.violation import Value, Violation, nearest
from triage.model.errors import InputError

MAX_NUMEL = 1 << 20
"""TRITON_MAX_TENSOR_NUMEL, elements of one tensor: the same in every release from 3.0 on."""
TITLE = "shapes in Triton: powers of two, elements, what operations ask of them"
_BLOCK = "triton/_utils.py: validate_block_shape"
_SEMANTIC = "triton/language/semantic.py"
_STANDARD = "triton/language/standard.py"


@dataclass(frozen=True, slots=True)
class OperationArguments:
    """An operation's arguments: the shape of its tensor, a second shape (``to``), an axis, an element type."""

    shape: tuple[int, ...]
    to: tuple[int, ...] | None
    axis: int | None
    dtype: DType | None
    release: Series

    @property
    def other(self) -> tuple[int, ...]:
        """The second shape. Raises InputError where it was left out."""
        if self.to is None:
            raise InputError("--to is missing: the second shape of the operation")
        return self.to


def violations(
    *,
    shape: tuple[int, ...],
    release: str | None = None,
    op: str = "tensor",
    to: tuple[int, ...] | None = None,
    axis: int | None = None,
    dtype: DType | None = None,
) -> list[Violation]:
    """Violations of an operation on a tensor of this shape (elements); empty when the front end takes it.

    ``op`` is a key of ``OPERATIONS``, which say what ``shape``, ``to``, ``axis`` and ``dtype`` are to them;
    ``release`` is a Triton release, the newest where it is left out. Raises InputError for an unknown operation, a
    missing argument, or a bad release.
    """
    known = OPERATIONS.get(op)
    if known is None:
        raise InputError(f"operation {op!r}: known are {', '.join(OPERATIONS)}")
    return known.check(OperationArguments(shape, to, axis, dtype, series(release)))


def block(shape: tuple[int, ...], parameter: str = "shape") -> list[Violation]:
    """Violations of a shape as such: a dimension that is not a power of two, or too many elements in all."""
    broken = []
    for place, size in enumerate(shape):
        if size < 1 or size & (size - 1):
            allowed = _powers(MAX_NUMEL)
            message = f"dimension {place} of {_text(shape)} is {size}: every dimension is a power of two"
            close = nearest(size, allowed)
            broken.append(Violation("language.power-of-two", parameter, size, allowed, close, _BLOCK, message))
    count = prod(shape)
    if not broken and count > MAX_NUMEL:
        message = f"{_text(shape)} has {count} elements: a tensor has at most {MAX_NUMEL}"
        allowed = _powers(MAX_NUMEL)
        broken.append(Violation("language.numel", parameter, count, allowed, (MAX_NUMEL,), _BLOCK, message))
    return broken


def _arange(asked: OperationArguments) -> list[Violation]:
    if len(asked.shape) != 2:
        raise InputError("--shape of arange is START x END: two numbers")
    start, end = asked.shape
    source = f"{_SEMANTIC}: arange"
    # The front end's own test lets 2^31 to 2^32 - 1 pass, and the builder, which takes int32, then raises TypeError.
    if max(start, end) >= 1 << 31:
        message = f"arange({start}, {end}): both fit in int32"
        return [Violation("language.arange", "shape", max(start, end), (), (), source, message)]
    if end <= start:
        message = f"arange({start}, {end}): the end is greater than the start"
        return [Violation("language.arange", "shape", (start, end), (), (), source, message)]
    length = end - start
    if length & (length - 1):
        allowed = _powers(MAX_NUMEL)
        message = f"arange({start}, {end}) has {length} elements: a power of two"
        close = nearest(length, allowed)
        return [Violation("language.arange", "shape", length, allowed, close, source, message)]
    return block((length,))


def _reshape(asked: OperationArguments) -> list[Violation]:
    broken = block(asked.shape) or block(asked.other, "to")
    have, want = prod(asked.shape), prod(asked.other)
    if broken or have == want:
        return broken
    message = f"{_text(asked.shape)} has {have} elements, {_text(asked.other)} has {want}"
    return [_violation("reshape", "to", want, (have,), "reshape", message)]


def _broadcast(asked: OperationArguments) -> list[Violation]:
    shape, to = asked.shape, asked.other
    if broken := block(shape) or block(to, "to"):
        return broken
    if len(shape) != len(to):
        message = f"broadcast_to of {_text(shape)} to {_text(to)}: rank {len(shape)} is not {len(to)}"
        return [_violation("rank", "to", len(to), (len(shape),), "broadcast_impl_shape", message)]
    for place, (have, want) in enumerate(zip(shape, to, strict=True)):
        if have not in (1, want):
            message = f"dimension {place}: {have} does not stretch to {want}, only 1 does"
            return [_violation("broadcast", "to", want, (have,), "broadcast_impl_shape", message)]
    return []


def _together(asked: OperationArguments) -> list[Violation]:
    """Two tensors in one operation: missing dimensions in front and ones stretch."""
    one, other = asked.shape, asked.other
    if broken := block(one) or block(other, "to"):
        return broken
    rank = max(len(one), len(other))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (one, other)]
    for place, (left, right) in enumerate(zip(*padded, strict=True)):
        if left != right and 1 not in (left, right):
            message = f"{_text(one)} and {_text(other)} differ in dimension {place}: {left} and {right}"
            return [_violation("broadcast", "to", right, (1, left), "broadcast_impl_value", message)]
    return block(_stretched(padded))


def _stretched(padded: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(max(pair) for pair in zip(*padded, strict=True))


def _join(asked: OperationArguments) -> list[Violation]:
    if broken := _together(asked):
        return broken
    rank = max(len(asked.shape), len(asked.other))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (asked.shape, asked.other)]
    return block((*_stretched(padded), 2))


def _cat(asked: OperationArguments) -> list[Violation]:
    if broken := block(asked.shape) or block(asked.other, "to"):
        return broken
    for parameter, shape in (("shape", asked.shape), ("to", asked.other)):
        if len(shape) != 1:
            message = f"cat takes tensors of rank 1, not {_text(shape)}"
            return [_violation("rank", parameter, len(shape), (1,), "cat", message)]
    return block((asked.shape[0] + asked.other[0],), "to")


def _permute(asked: OperationArguments) -> list[Violation]:
    if broken := block(asked.shape):
        return broken
    rank = len(asked.shape)
    if sorted(asked.other) != list(range(rank)):
        message = f"permute of {_text(asked.shape)} takes each of 0 … {rank - 1} once, not {_text(asked.other)}"
        return [_violation("permute", "to", asked.other, (tuple(reversed(range(rank))),), "permute", message)]
    return []


def _split(asked: OperationArguments) -> list[Violation]:
    if broken := block(asked.shape):
        return broken
    if asked.shape[-1] != 2:
        message = f"split takes a last dimension of 2: {_text(asked.shape)} has {asked.shape[-1]}"
        return [_violation("split", "shape", asked.shape[-1], (2,), "split", message)]
    return []


def _axis(asked: OperationArguments) -> list[Violation]:
    if broken := block(asked.shape):
        return broken
    rank = len(asked.shape)
    axis = 0 if asked.axis is None else asked.axis
    if axis >= rank:
        allowed = tuple(range(rank))
        message = f"axis {axis} of {_text(asked.shape)}: the axes are 0 … {rank - 1}"
        return [_violation("axis", "axis", axis, allowed, "reduction, associative_scan, gather", message)]
    return []


def _gather(asked: OperationArguments) -> list[Violation]:
    if broken := _since(asked, "gather", (3, 3)) or block(asked.shape) or block(asked.other, "to"):
        return broken
    source, index = asked.shape, asked.other
    if len(source) != len(index):
        message = f"gather from {_text(source)} by {_text(index)}: rank {len(source)} is not {len(index)}"
        return [_violation("rank", "to", len(index), (len(source),), "gather", message)]
    if broken := _axis(asked):
        return broken
    for place, (have, want) in enumerate(zip(source, index, strict=True)):
        if place != (asked.axis or 0) and have != want:
            message = f"gather along axis {asked.axis or 0}: dimension {place} of the index is {want}, not {have}"
            return [_violation("gather", "to", want, (have,), "gather", message)]
    return []


def _histogram(asked: OperationArguments) -> list[Violation]:
    if broken := block(asked.shape) or block(asked.other, "to"):
        return broken
    if len(asked.shape) != 1:
        message = f"histogram takes a tensor of rank 1, not {_text(asked.shape)}"
        return [_violation("rank", "shape", len(asked.shape), (1,), "histogram", message)]
    return []


def _sort(asked: OperationArguments) -> list[Violation]:
    if broken := block(asked.shape):
        return broken
    last = len(asked.shape) - 1
    axis = last if asked.axis is None else asked.axis
    if axis != last:
        message = f"sort works along the last dimension, {last}, not along {axis}"
        return [Violation("language.axis", "axis", axis, (last,), (last,), f"{_STANDARD}: sort", message)]
    if (3, 4) <= asked.release < (3, 6) and prod(asked.shape) == 1:
        message = "sort of one element fails in Triton 3.4 and 3.5"
        return [Violation("language.sort", "shape", 1, (), (), f"{_STANDARD}: sort_impl", message)]
    return []


def _topk(asked: OperationArguments) -> list[Violation]:
    if broken := _since(asked, "topk", (3, 4)) or _sort(asked):
        return broken
    if len(asked.other) != 1:
        raise InputError("--to of topk is k: one number")
    k, longest = asked.other[0], asked.shape[-1]
    # Of a tensor of one row, a k of 1 leaves a scalar, which only 3.9 expects.
    scalar = asked.release < (3, 9) and prod(asked.shape) == longest > 1
    allowed = tuple(power for power in _powers(longest) if power > 1 or not scalar)
    if k not in allowed:
        message = f"topk of {longest} elements takes k of {', '.join(map(str, allowed))}, not {k}"
        return [Violation("language.topk", "to", k, allowed, nearest(k, allowed), f"{_STANDARD}: sort_impl", message)]
    return []


def _descriptor(asked: OperationArguments) -> list[Violation]:
    if broken := _since(asked, "make_tensor_descriptor", (3, 4)):
        return broken
    if asked.dtype is None:
        raise InputError("--dtype is missing: the element type of the descriptor")
    source, rank = "make_tensor_descriptor", len(asked.shape)
    if rank > 5:
        message = f"a descriptor has 1 to 5 dimensions, not {rank}"
        return [_violation("rank", "shape", rank, (1, 2, 3, 4, 5), source, message)]
    last, size = asked.shape[-1], asked.dtype.bits // 8
    if last * size < 16:
        allowed = tuple(power for power in _powers(MAX_NUMEL) if power * size >= 16)
        message = f"the last dimension of a block is {last} x {size} B = {last * size} B: 16 B or more"
        return [_violation("descriptor", "shape", last, allowed, source, message)]
    return block(asked.shape)


def _since(asked: OperationArguments, what: str, first: Series) -> list[Violation]:
    if asked.release >= first:
        return []
    release = ".".join(map(str, first))
    given = ".".join(map(str, asked.release))
    message = f"tl.{what} is there from Triton {release} on, not in {given}"
    return [Violation("language.release", "release", given, (release,), (release,), _SEMANTIC, message)]


def _violation(
    name: str, parameter: str, given: Value, allowed: tuple[Value, ...], where: str, message: str
) -> Violation:
    return Violation(f"language.{name}", parameter, given, allowed, allowed[:1], f"{_SEMANTIC}: {where}", message)


@dataclass(frozen=True, slots=True)
class LanguageOperation:
    """An operation: its check, and in words for the table how it reads its arguments and what it requires."""

    check: Callable[[OperationArguments], list[Violation]]
    reads: str
    asks: str


OPERATIONS = {
    "tensor": LanguageOperation(
        lambda asked: block(asked.shape), "shape", f"powers of two, at most {MAX_NUMEL} elements"
    ),
    "arange": LanguageOperation(_arange, "shape = START x END", "END > START, END - START a power of two, int32"),
    "reshape": LanguageOperation(_reshape, "to = new shape", "as many elements"),
    "broadcast": LanguageOperation(_broadcast, "to = new shape", "the same rank; only dimensions of 1 stretch"),
    "binary": LanguageOperation(_together, "to = other shape", "equal or 1 in each dimension, from the right"),
    "permute": LanguageOperation(_permute, "to = order", "each of 0 … rank - 1 once"),
    "join": LanguageOperation(_join, "to = other shape", "shapes that broadcast; the result has a last dimension of 2"),
    "split": LanguageOperation(_split, "shape", "a last dimension of 2"),
    "cat": LanguageOperation(_cat, "to = other shape", "rank 1; the lengths add up to a power of two"),
    "reduce": LanguageOperation(_axis, "axis", "axis < rank"),
    "scan": LanguageOperation(_axis, "axis", "axis < rank"),
    "gather": LanguageOperation(_gather, "to = index shape, axis", "equal but along axis"),
    "histogram": LanguageOperation(_histogram, "to = bins", "rank 1, bins a power of two"),
    "sort": LanguageOperation(_sort, "axis", "the last axis"),
    "topk": LanguageOperation(_topk, "to = k", "k a power of two, at most the last dimension"),
    "descriptor": LanguageOperation(_descriptor, "shape = block, dtype", "1 to 5 dimensions, 16 B or more in the last"),
}


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "a scalar"


def _powers(most: int) -> tuple[int, ...]:
    return tuple(1 << exponent for exponent in range(most.bit_length()))


def _judge(given: Given) -> Judgement:
    asked = {name: given[name] for name in ("shape", "op", "to", "axis", "dtype") if name in given}
    shape, op = given["shape"], given["op"]
    count = shape[1] - shape[0] if op == "arange" and len(shape) == 2 else prod(shape)
    return Judgement(
        f"{op} {_text(shape)}",
        violations(release=given.get("triton"), **asked),
        (Fact("numel", count, "elements"), Fact("max_numel", MAX_NUMEL, "at most")),
        notes=(f"{op} reads {OPERATIONS[op].reads}; it asks for {OPERATIONS[op].asks}.",),
    )


def _tables(given: Given) -> list[RuleTable]:
    rows = tuple((name, one.reads, one.asks) for name, one in OPERATIONS.items())
    return [RuleTable("operations", ("op", "reads", "asks for"), rows)]


RULE = LegalityRule(
    "language",
    TITLE,
    (
        Parameter("shape", Syntax.SHAPE, "shape of the tensor; START x END for arange", required=True),
        Parameter("op", Syntax.CHOICE, "the operation", tuple(OPERATIONS), default="tensor"),
        Parameter("to", Syntax.SHAPE, "the operation's second shape (see the table)"),
        Parameter("axis", Syntax.INTEGER, "the operation's axis"),
        Parameter("dtype", Syntax.DTYPE, "element type (descriptor)"),
        Parameter("triton", Syntax.RELEASE, "Triton release; the newest where it is left out"),
    ),
    _judge,
    _tables,
    ("--shape 96x64", "--shape 0x100 --op arange", "--shape 64x64 --op reshape --to 128x16"),
    (_BLOCK, _SEMANTIC, _STANDARD),
)
