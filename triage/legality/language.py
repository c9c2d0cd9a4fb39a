"""Constraints of Triton's language on shapes: powers of two, at most 1048576 elements, and what single
operations require of their arguments.

All of it is checked by the front end, before any pass: ``validate_block_shape`` (triton/_utils.py; language/_utils.py
up to 3.3), the operations in triton/language/semantic.py and standard.py, and the verifier of the IR that they make.
What older front ends accept is also illegal here if it fails later or gives wrong results:

- a dimension of 0 (up to 3.7) and the results of ``cat`` and ``histogram`` (up to 3.1) fail or crash in a later pass;
- ``topk`` up to 3.8 takes a k that is not a power of two, or longer than the dimension, and returns another number of
  elements; its k of 1 of a single row, and before 3.6 a sort of one element, end in an AttributeError.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from triage.legality.dtypes import DType
from triage.legality.explanation import Fact, RuleTable
from triage.legality.release import Series, series
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Value, Violation, nearest, powers, refuse
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
        """The second shape. Raises InputError if it is missing."""
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
    asked = OperationArguments(shape, to, axis, dtype, series(release))
    if asked.release < known.since:
        first, requested = (".".join(map(str, numbers)) for numbers in (known.since, asked.release))
        name = "make_tensor_descriptor" if op == "descriptor" else op
        message = f"tl.{name} is there from Triton {first} on, not in {requested}"
        return [refuse("language.release", requested, (first,), _SEMANTIC, message)]
    broken = block(shape) if known.tensors else []
    if not broken and known.tensors == 2:
        broken = block(asked.other, "to")
    return broken or known.check(asked)


def block(shape: tuple[int, ...], parameter: str = "shape") -> list[Violation]:
    """Violations of a shape as such: a dimension that is not a power of two, or too many elements in all."""
    broken = []
    for dimension, size in enumerate(shape):
        if size < 1 or size & (size - 1):
            allowed = powers(MAX_NUMEL)
            message = f"dimension {dimension} of {_text(shape)} is {size}: every dimension is a power of two"
            close = nearest(size, allowed)
            broken.append(refuse("language.power-of-two", size, allowed, _BLOCK, message, close, parameter=parameter))
    count = prod(shape)
    if not broken and count > MAX_NUMEL:
        message = f"{_text(shape)} has {count} elements: a tensor has at most {MAX_NUMEL}"
        allowed = powers(MAX_NUMEL)
        broken.append(refuse("language.numel", count, allowed, _BLOCK, message, (MAX_NUMEL,), parameter=parameter))
    return broken


def _arange(asked: OperationArguments) -> list[Violation]:
    if len(asked.shape) != 2:
        raise InputError("--shape of arange is START x END: two numbers")
    start, end = asked.shape
    source = f"{_SEMANTIC}: arange"
    # The front end's own test lets 2^31 to 2^32 - 1 pass, and the builder, which takes int32, then raises TypeError.
    if max(start, end) >= 1 << 31:
        message = f"arange({start}, {end}): both fit in int32"
        return [refuse("language.arange", max(start, end), (), source, message, parameter="shape")]
    if end <= start:
        message = f"arange({start}, {end}): the end is greater than the start"
        return [refuse("language.arange", (start, end), (), source, message, parameter="shape")]
    length = end - start
    if length & (length - 1):
        allowed = powers(MAX_NUMEL)
        message = f"arange({start}, {end}) has {length} elements: a power of two"
        close = nearest(length, allowed)
        return [refuse("language.arange", length, allowed, source, message, close, parameter="shape")]
    return block((length,))


def _reshape(asked: OperationArguments) -> list[Violation]:
    have, want = prod(asked.shape), prod(asked.other)
    if (broken := block(asked.shape) or block(asked.other, "to")) or have == want:
        return broken
    message = f"{_text(asked.shape)} has {have} elements, {_text(asked.other)} has {want}"
    return _refused("reshape", "to", want, (have,), "reshape", message)


def _broadcast(asked: OperationArguments) -> list[Violation]:
    shape, to = asked.shape, asked.other
    if broken := block(shape) or block(to, "to"):
        return broken
    source = "broadcast_impl_shape"
    if len(shape) != len(to):
        message = f"broadcast_to of {_text(shape)} to {_text(to)}: rank {len(shape)} is not {len(to)}"
        return _refused("rank", "to", len(to), (len(shape),), source, message)
    for dimension, (have, want) in enumerate(zip(shape, to, strict=True)):
        if have not in (1, want):
            message = f"dimension {dimension}: {have} does not stretch to {want}, only 1 does"
            return _refused("broadcast", "to", want, (have,), source, message)
    return []


def _together(asked: OperationArguments, *joined: int) -> list[Violation]:
    """Two tensors in one operation: missing dimensions in front and ones stretch; ``joined`` follow in the result."""
    first, second = asked.shape, asked.other
    if broken := block(first) or block(second, "to"):
        return broken
    rank = max(len(first), len(second))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (first, second)]
    for dimension, (left, right) in enumerate(zip(*padded, strict=True)):
        if left != right and 1 not in (left, right):
            message = f"{_text(first)} and {_text(second)} differ in dimension {dimension}: {left} and {right}"
            return _refused("broadcast", "to", right, (1, left), "broadcast_impl_value", message)
    stretched = tuple(max(pair) for pair in zip(*padded, strict=True))
    return block(stretched) or block((*stretched, *joined))


def _vector(operation: str, parameter: str, shape: tuple[int, ...]) -> list[Violation]:
    if len(shape) == 1:
        return []
    message = f"{operation} takes tensors of rank 1, not {_text(shape)}"
    return _refused("rank", parameter, len(shape), (1,), operation, message)


def _cat(asked: OperationArguments) -> list[Violation]:
    if broken := _vector("cat", "shape", asked.shape) or _vector("cat", "to", asked.other):
        return broken
    return block((asked.shape[0] + asked.other[0],), "to")


def _permute(asked: OperationArguments) -> list[Violation]:
    rank = len(asked.shape)
    if sorted(asked.other) == list(range(rank)):
        return []
    message = f"permute of {_text(asked.shape)} takes each of 0 … {rank - 1} once, not {_text(asked.other)}"
    return _refused("permute", "to", asked.other, (tuple(reversed(range(rank))),), "permute", message)


def _split(asked: OperationArguments) -> list[Violation]:
    if asked.shape[-1] == 2:
        return []
    message = f"split takes a last dimension of 2: {_text(asked.shape)} has {asked.shape[-1]}"
    return _refused("split", "shape", asked.shape[-1], (2,), "split", message)


def _axis(asked: OperationArguments) -> list[Violation]:
    rank, axis = len(asked.shape), asked.axis or 0
    if axis < rank:
        return []
    message = f"axis {axis} of {_text(asked.shape)}: the axes are 0 … {rank - 1}"
    return _refused("axis", "axis", axis, tuple(range(rank)), "reduction, associative_scan, gather", message)


def _gather(asked: OperationArguments) -> list[Violation]:
    source, index = asked.shape, asked.other
    if len(source) != len(index):
        message = f"gather from {_text(source)} by {_text(index)}: rank {len(source)} is not {len(index)}"
        return _refused("rank", "to", len(index), (len(source),), "gather", message)
    if broken := _axis(asked):
        return broken
    axis = asked.axis or 0
    for dimension, (have, want) in enumerate(zip(source, index, strict=True)):
        if dimension != axis and have != want:
            message = f"gather along axis {axis}: dimension {dimension} of the index is {want}, not {have}"
            return _refused("gather", "to", want, (have,), "gather", message)
    return []


def _sort(asked: OperationArguments) -> list[Violation]:
    last = len(asked.shape) - 1
    axis = last if asked.axis is None else asked.axis
    if axis != last:
        message = f"sort works along the last dimension, {last}, not along {axis}"
        return [refuse("language.axis", axis, (last,), f"{_STANDARD}: sort", message)]
    if (3, 4) <= asked.release < (3, 6) and prod(asked.shape) == 1:
        message = "sort of one element fails in Triton 3.4 and 3.5"
        return [refuse("language.sort", 1, (), f"{_STANDARD}: sort_impl", message, parameter="shape")]
    return []


def _topk(asked: OperationArguments) -> list[Violation]:
    if broken := _sort(asked):
        return broken
    if len(asked.other) != 1:
        raise InputError("--to of topk is k: one number")
    k, longest = asked.other[0], asked.shape[-1]
    # Of a tensor of one row, a k of 1 leaves a scalar, which only 3.9 expects.
    scalar = asked.release < (3, 9) and prod(asked.shape) == longest > 1
    allowed = tuple(power for power in powers(longest) if power > 1 or not scalar)
    if k not in allowed:
        message = f"topk of {longest} elements takes k of {', '.join(map(str, allowed))}, not {k}"
        return [refuse("language.topk", k, allowed, f"{_STANDARD}: sort_impl", message, parameter="to")]
    return []


def _descriptor(asked: OperationArguments) -> list[Violation]:
    if asked.dtype is None:
        raise InputError("--dtype is missing: the element type of the descriptor")
    source, rank = "make_tensor_descriptor", len(asked.shape)
    if rank > 5:
        message = f"a descriptor has 1 to 5 dimensions, not {rank}"
        return _refused("rank", "shape", rank, (1, 2, 3, 4, 5), source, message)
    last, size = asked.shape[-1], asked.dtype.bits // 8
    if last * size < 16:
        allowed = tuple(power for power in powers(MAX_NUMEL) if power * size >= 16)
        message = f"the last dimension of a block is {last} x {size} B = {last * size} B: 16 B or more"
        return _refused("descriptor", "shape", last, allowed, source, message)
    return block(asked.shape)


def _refused(
    name: str, parameter: str, value: Value, allowed: tuple[Value, ...], function: str, message: str
) -> list[Violation]:
    source = f"{_SEMANTIC}: {function}"
    return [refuse(f"language.{name}", value, allowed, source, message, allowed[:1], parameter)]


@dataclass(frozen=True, slots=True)
class LanguageOperation:
    """An operation: its check, and in words for the table how it reads its arguments and what it requires.

    ``tensors``: before the check the first shape (1), or the second as well (2), must be those of tensors. ``since`` is
    the first release that has it.
    """

    check: Callable[[OperationArguments], list[Violation]]
    reads: str
    asks: str
    tensors: int = 0
    since: Series = (3, 0)


OPERATIONS = {
    "tensor": LanguageOperation(
        lambda asked: block(asked.shape), "shape", f"powers of two, at most {MAX_NUMEL} elements"
    ),
    "arange": LanguageOperation(_arange, "shape = START x END", "END > START, END - START a power of two, int32"),
    "reshape": LanguageOperation(_reshape, "to = new shape", "as many elements"),
    "broadcast": LanguageOperation(_broadcast, "to = new shape", "the same rank; only dimensions of 1 stretch"),
    "binary": LanguageOperation(_together, "to = other shape", "equal or 1 in each dimension, from the right"),
    "permute": LanguageOperation(_permute, "to = order", "each of 0 … rank - 1 once", 1),
    "join": LanguageOperation(
        lambda asked: _together(asked, 2),
        "to = other shape",
        "shapes that broadcast; the result has a last dimension of 2",
    ),
    "split": LanguageOperation(_split, "shape", "a last dimension of 2", 1),
    "cat": LanguageOperation(_cat, "to = other shape", "rank 1; the lengths add up to a power of two", 2),
    "reduce": LanguageOperation(_axis, "axis", "axis < rank", 1),
    "scan": LanguageOperation(_axis, "axis", "axis < rank", 1),
    "gather": LanguageOperation(_gather, "to = index shape, axis", "equal but along axis", 2, (3, 3)),
    "histogram": LanguageOperation(
        lambda asked: _vector("histogram", "shape", asked.shape), "to = bins", "rank 1, bins a power of two", 2
    ),
    "sort": LanguageOperation(_sort, "axis", "the last axis", 1),
    "topk": LanguageOperation(_topk, "to = k", "k a power of two, at most the last dimension", 1, (3, 4)),
    "descriptor": LanguageOperation(
        _descriptor, "shape = block, dtype", "1 to 5 dimensions, 16 B or more in the last", since=(3, 4)
    ),
}


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "a scalar"


def _judge(args: Arguments) -> Judgement:
    asked = {name: args[name] for name in ("shape", "op", "to", "axis", "dtype") if name in args}
    shape, op = args["shape"], args["op"]
    count = shape[1] - shape[0] if op == "arange" and len(shape) == 2 else prod(shape)
    return Judgement(
        f"{op} {_text(shape)}",
        violations(release=args.get("triton"), **asked),
        (Fact("numel", count, "elements"), Fact("max_numel", MAX_NUMEL, "at most")),
        notes=(f"{op} reads {OPERATIONS[op].reads}; it asks for {OPERATIONS[op].asks}.",),
    )


def _tables(args: Arguments) -> list[RuleTable]:
    rows = tuple((name, operation.reads, operation.asks) for name, operation in OPERATIONS.items())
    return [RuleTable("operations", ("op", "reads", "asks for"), rows)]


RULE = LegalityRule(
    "language",
    TITLE,
    (
        RuleParameter("shape", Syntax.SHAPE, "shape of the tensor; START x END for arange", required=True),
        RuleParameter("op", Syntax.CHOICE, "the operation", tuple(OPERATIONS), default="tensor"),
        RuleParameter("to", Syntax.SHAPE, "the operation's second shape (see the table)"),
        RuleParameter("axis", Syntax.INTEGER, "the operation's axis"),
        RuleParameter("dtype", Syntax.DTYPE, "element type (descriptor)"),
        RuleParameter("triton", Syntax.RELEASE, "Triton release; the newest where it is left out"),
    ),
    _judge,
    _tables,
    ("--shape 96x64", "--shape 0x100 --op arange", "--shape 64x64 --op reshape --to 128x16"),
    (_BLOCK, _SEMANTIC, _STANDARD),
)
