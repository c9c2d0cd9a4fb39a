"""Types of a CuTe case's arguments as text, and back: ``tensor<bf16, (128,64):(64,1), align=16>``. Pure.

``tensor<DTYPE, SHAPE:STRIDE[, SPACE][, align=BYTES]>``, ``ptr<DTYPE[, SPACE][, align=BYTES]>``, a scalar's type
(``i32``), ``stream``, and a tuple of these, ``(i32, i32)``. An extent or a stride is a number, ``?`` (dynamic) or
``?{8}`` (dynamic, and divisible by 8), or a tuple of these.
"""

import re
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple, Union

DTYPES = {
    "f64": "Float64", "f32": "Float32", "tf32": "TFloat32", "f16": "Float16", "bf16": "BFloat16",
    "f8e4m3": "Float8E4M3FN", "f8e5m2": "Float8E5M2", "f8e4m3b11": "Float8E4M3B11FNUZ", "f8e8m0": "Float8E8M0FNU",
    "f6e2m3": "Float6E2M3FN", "f6e3m2": "Float6E3M2FN", "f4e2m1": "Float4E2M1FN",
    "i64": "Int64", "i32": "Int32", "i16": "Int16", "i8": "Int8", "i4": "Int4", "i1": "Boolean",
    "u64": "Uint64", "u32": "Uint32", "u16": "Uint16", "u8": "Uint8",
}  # fmt: skip
"""Names in a case, and the classes of ``cutlass`` that they are."""
_WIDTHS = {"tf32": 32, "i1": 8}
SPACES = ("gmem", "generic", "smem", "tmem", "rmem")
"""Address spaces; the first is meant where none is stated."""
_TOKEN = re.compile(r"\s*(?:(?P<word>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<dynamic>\?)|(?P<sign>[<>(){}:,=]))")
_MOST_DEPTH = 8
"""Tuples in one another; a layout of the DSL has four."""


class BadType(ValueError):
    """The text is no type of an argument; the message says why."""


@dataclass(frozen=True)
class Dynamic:
    """An extent or a stride that is known at run time only; a multiple of ``divisor``."""

    divisor: int = 1

    def __str__(self) -> str:
        return "?" if self.divisor == 1 else "?{%d}" % self.divisor


Extent = Union[int, Dynamic, Tuple[Any, ...]]
"""A number of elements, or a tuple of extents."""


@dataclass(frozen=True)
class Tensor:
    """``shape`` and ``stride`` in elements, alike nested; ``align`` in bytes, None for that of an element."""

    dtype: str
    shape: Tuple[Extent, ...]
    stride: Tuple[Extent, ...]
    space: str = SPACES[0]
    align: Optional[int] = None

    def __str__(self) -> str:
        layout = "%s:%s" % (_shown(self.shape), _shown(self.stride))
        return "tensor<%s>" % ", ".join([self.dtype, layout, *_rest(self.space, self.align)])


@dataclass(frozen=True)
class Pointer:
    """``align`` in bytes, None for that of an element."""

    dtype: str
    space: str = SPACES[0]
    align: Optional[int] = None

    def __str__(self) -> str:
        return "ptr<%s>" % ", ".join([self.dtype, *_rest(self.space, self.align)])


@dataclass(frozen=True)
class Scalar:
    """A number that is passed at run time."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype


@dataclass(frozen=True)
class Stream:
    """A CUDA stream."""

    def __str__(self) -> str:
        return "stream"


@dataclass(frozen=True)
class Group:
    """A tuple of arguments."""

    items: Tuple[Any, ...]

    def __str__(self) -> str:
        return "(%s)" % ", ".join(map(str, self.items))


Argument = Union[Tensor, Pointer, Scalar, Stream, Group]


def width(dtype: str) -> int:
    """Bits of an element."""
    return _WIDTHS.get(dtype) or int(re.sub(r"\D*(\d+).*", r"\1", dtype))


def parse(text: str) -> Argument:
    """Read a type. Raises BadType."""
    reader = _Reader(text)
    argument = reader.argument(0)
    reader.finish()
    return argument


def _rest(space: str, align: Optional[int]) -> List[str]:
    return [*([space] if space != SPACES[0] else []), *(["align=%d" % align] if align is not None else [])]


def _shown(value: Extent) -> str:
    if isinstance(value, tuple):
        return "(%s)" % ",".join(map(_shown, value))
    return str(value)


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens: List[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise BadType("unexpected %r" % text[at:].strip()[0])
            self._tokens.append(match.group().strip())
            at = match.end()
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, *tokens: str) -> str:
        token = self._next()
        if token not in tokens:
            raise BadType("expected %s, read %r" % (" or ".join(map(repr, tokens)), token or "the end"))
        return token

    def finish(self) -> None:
        if self._peek():
            raise BadType("%r after its end" % self._peek())

    def argument(self, depth: int) -> Argument:
        if depth > _MOST_DEPTH:
            raise BadType("nested deeper than %d" % _MOST_DEPTH)
        token = self._next()
        if token == "(":
            return self._group(depth)
        if token in ("tensor", "ptr"):
            self._expect("<")
            dtype = self._dtype(self._next())
            if token == "ptr":
                space, align = self._attributes()
                return Pointer(dtype, space, align)
            self._expect(",")
            shape, stride = self._layout()
            space, align = self._attributes()
            return Tensor(dtype, shape, stride, space, align)
        return Stream() if token == "stream" else Scalar(self._dtype(token))

    def _group(self, depth: int) -> Group:
        items = []
        while self._peek() != ")":
            items.append(self.argument(depth + 1))
            if self._peek() != ")":
                self._expect(",")
        self._expect(")")
        return Group(tuple(items))

    def _dtype(self, token: str) -> str:
        name = token.lower()
        name = name[:-2] if name.endswith("fn") else name
        if name not in DTYPES:
            raise BadType("%r is not a type; known are %s" % (token or "the end", ", ".join(DTYPES)))
        return name

    def _attributes(self) -> Tuple[str, Optional[int]]:
        space, align = SPACES[0], None
        while self._expect(",", ">") == ",":
            token = self._next()
            if token in SPACES:
                space = token
                continue
            if token != "align":
                raise BadType("expected %s or align=BYTES, read %r" % (", ".join(SPACES), token or "the end"))
            self._expect("=")
            align = self._number("align")
            if align < 1 or align & (align - 1):
                raise BadType("align=%d is not a power of two" % align)
        return space, align

    def _number(self, what: str) -> int:
        token = self._next()
        if not token.isdigit():
            raise BadType("%s: expected a number, read %r" % (what, token or "the end"))
        return int(token)

    def _layout(self) -> Tuple[Tuple[Extent, ...], Tuple[Extent, ...]]:
        shape = self._extents(0)
        self._expect(":")
        stride = self._extents(0)
        if not _alike(shape, stride):
            raise BadType("shape %s and stride %s are not nested alike" % (_shown(shape), _shown(stride)))
        return shape, stride

    def _extents(self, depth: int) -> Tuple[Extent, ...]:
        if depth > _MOST_DEPTH:
            raise BadType("nested deeper than %d" % _MOST_DEPTH)
        if self._peek() != "(":
            return (self._extent(),)
        self._next()
        items: List[Extent] = []
        while self._peek() != ")":
            items.append(self._extents(depth + 1) if self._peek() == "(" else self._extent())
            if self._peek() != ")":
                self._expect(",")
        self._expect(")")
        if not items:
            raise BadType("an empty layout")
        return tuple(items)

    def _extent(self) -> Extent:
        if self._peek() != "?":
            return self._number("an extent or a stride")
        self._next()
        if self._peek() != "{":
            return Dynamic()
        self._next()
        divisor = self._number("a divisor")
        self._expect("}")
        if divisor < 1:
            raise BadType("divisor 0")
        return Dynamic(divisor)


def _alike(shape: Extent, stride: Extent) -> bool:
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        return len(shape) == len(stride) and all(map(_alike, shape, stride))
    return not isinstance(shape, tuple) and not isinstance(stride, tuple)
