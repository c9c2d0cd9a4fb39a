"""Values as JSON documents and back, derived from dataclass fields; ``schema.py`` derives the JSON Schema.

A field's type says what its document holds: scalars, enums, nested values, tuples (arrays), mappings (objects), None
(null). A :class:`Doc` in the type's ``Annotated`` metadata says the rest: another name, rounding, keywords of JSON
Schema. A document is untrusted: whatever is not of the type is an InputError of one line that names document and field.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from dataclasses import field as dataclass_field
from enum import Enum
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

from triage.model.errors import InputError
from triage.model.target import Target

T = TypeVar("T")
D = TypeVar("D", bound="Documented")


@dataclass(frozen=True, slots=True)
class Doc:
    """How a field appears in documents. ``name``: where not the attribute's; ``a.b`` for ``b`` in an object ``a``.
    ``digits``: numbers are rounded. ``blank``: an empty text is null. ``optional``: documents may lack the field.
    ``hidden``: they never have it. ``words``: what is expected, in errors. ``schema``: keywords of JSON Schema."""

    description: str = ""
    name: str = ""
    digits: int | None = None
    blank: bool = False
    optional: bool = False
    hidden: bool = False
    words: str = ""
    schema: Mapping[str, Any] | None = dataclass_field(default=None, hash=False)

    def refined(self, other: Doc) -> Doc:
        """With what ``other`` states."""
        stated = {own.name: getattr(other, own.name) for own in fields(Doc)}
        return replace(self, **{name: value for name, value in stated.items() if value not in (None, "", False)})


Internal = Annotated[T, Doc(hidden=True)]
"""The type of a field that no document has."""
Count = Annotated[int, Doc(schema={"minimum": 0})]
Amount = Annotated[float, Doc(schema={"minimum": 0})]
Name = Annotated[str, Doc(schema={"minLength": 1})]


class Documented:
    """Base of the values that are documents or parts of one. A property whose return type has a :class:`Doc` is written
    like a field; what a document holds in its place goes to :meth:`restored`."""

    __slots__ = ()
    schema_name: ClassVar[str] = ""
    """The document's ``schema`` field; empty for a part of a document."""
    schema_rules: ClassVar[Mapping[str, Any]] = {}
    """Keywords of JSON Schema that relate several fields."""

    def to_json(self) -> dict[str, Any]:
        """The document."""
        return encode_fields(self)

    @classmethod
    def from_json(cls: type[D], document: Any, where: str = "document") -> D:
        """The value of a parsed document; ``where`` names it in errors. Raises InputError."""
        return decode(cls, document, where)

    def restored(self: D, derived: Mapping[str, Any]) -> D:
        """The value with what only ``derived`` holds: the document's values of properties, by attribute."""
        return self


def encode(value: Any, exact: bool = False) -> Any:
    """The value as JSON can hold it. ``exact``: every field under its own name, none rounded or left out."""
    if value is None or type(value) in _PLAIN:
        return value
    match value:
        case Enum():
            return value.value
        case Path() | Target():
            return str(value)
        case Mapping():
            return {name: encode(item, exact) for name, item in value.items()}
        case tuple() | list():
            return [encode(item, exact) for item in value]
        case Documented() if not exact:
            return value.to_json()
    if is_dataclass(value):
        return {own.name: encode(getattr(value, own.name), exact) for own in fields(value)}
    return value


def encode_fields(value: Any) -> dict[str, Any]:
    """The document that the fields of a value describe."""
    document: dict[str, Any] = {"schema": value.schema_name} if value.schema_name else {}
    cls: Any = type(value)
    for field in document_fields(cls):
        inner, doc = document, field.shape.doc
        for name in field.path[:-1]:
            inner = inner.setdefault(name, {})
        item = getattr(value, field.attribute)
        if doc.digits is not None and item is not None:
            item = round(item, doc.digits)
        inner[field.path[-1]] = None if doc.blank and item == "" else encode(item)
    return document


def decode(type_: type[T], value: Any, where: str, exact: bool = False) -> T:
    """The value that :func:`encode` wrote. A missing field takes its default, but not with ``exact``. Raises
    InputError."""
    decoded: T = _Decoder(where, exact).value(Shape.of(type_), value, "")
    return decoded


@dataclass(frozen=True, slots=True)
class Shape:
    """A type taken apart: ``core`` is the type without None and metadata. ``items``: types of a tuple's items, as in
    its annotation; ``values``: the type of a mapping's values; None for other types."""

    core: Any
    doc: Doc
    nullable: bool
    items: tuple[Any, ...] | None
    values: Any

    @staticmethod
    def of(type_: Any) -> Shape:
        """The shape of a type."""
        return _shape(type_)

    @property
    def words(self) -> str:
        """What the type holds, for messages."""
        is_enum = isinstance(self.core, type) and issubclass(self.core, Enum)
        plain = "a list" if self.items else "a text" if is_enum else _WORDS.get(self.core, "an object")
        return self.doc.words or plain


@cache
def _shape(type_: Any) -> Shape:
    nullable = False
    docs: list[Doc] = []
    while True:
        origin = get_origin(type_)
        if origin is Annotated:
            docs = [*type_.__metadata__, *docs]
            type_ = type_.__origin__
        elif origin in (Union, types.UnionType):
            (type_,) = (item for item in get_args(type_) if item is not types.NoneType)
            nullable = True
        else:
            items = get_args(type_) if origin is tuple else None
            values = get_args(type_)[1] if origin is _MAPPING else None
            return Shape(type_, reduce(Doc.refined, docs, Doc()), nullable, items, values)


_MAPPING = get_origin(Mapping[str, Any])
_PLAIN = frozenset({bool, int, float, str})
_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text", Path: "a text", Target: "a text"}


@dataclass(frozen=True)
class DocumentField:
    """A field of a document, below the objects that ``path`` names. ``derived``: it is a property. ``plain``: a value
    of just this type needs no more than to be taken; None where more is to be done."""

    attribute: str
    path: tuple[str, ...]
    shape: Shape
    has_default: bool
    derived: bool = False

    @cached_property
    def plain(self) -> type | None:
        taken = self.shape.core in _PLAIN and len(self.path) == 1 and not self.derived
        return self.shape.core if taken else None


@cache
def document_fields(cls: Any, exact: bool = False) -> tuple[DocumentField, ...]:
    """The fields that documents of a dataclass have; with ``exact`` the dataclass's own."""
    hints = get_type_hints(cls, include_extras=True)
    documented = []
    for own in fields(cls):
        shape = Shape.of(hints[own.name])
        path = (own.name,) if exact else tuple((shape.doc.name or own.name).split("."))
        has_default = own.default is not MISSING or own.default_factory is not MISSING
        if exact or not shape.doc.hidden:
            documented.append(DocumentField(own.name, path, shape, has_default))
    for name, member in () if exact else vars(cls).items():
        returned = get_type_hints(member.fget, include_extras=True)["return"] if isinstance(member, property) else None
        if get_origin(returned) is Annotated:
            shape = Shape.of(returned)
            documented.append(DocumentField(name, (shape.doc.name or name,), shape, True, derived=True))
    return tuple(documented)


@cache
def _hidden_fields(cls: Any) -> tuple[DocumentField, ...]:
    """The fields that documents of a dataclass never have, and that have no default."""
    documented = {field.attribute for field in document_fields(cls)}
    exact = document_fields(cls, exact=True)
    return tuple(field for field in exact if not field.has_default and field.attribute not in documented)


@dataclass(frozen=True, slots=True)
class _Decoder:
    """Reads one document, which ``where`` names."""

    where: str
    exact: bool

    def value(self, shape: Shape, value: Any, path: str) -> Any:
        core = shape.core
        if value is None and (shape.nullable or shape.doc.blank):
            return "" if shape.doc.blank else None
        if core is Any:
            return value
        if shape.items:
            return tuple(self._items(shape.items, self._typed(list, value, path), path))
        if shape.values:
            items = self._typed(dict, value, path).items()
            inner = Shape.of(shape.values)
            return {name: self.value(inner, item, f"{path}.{name}") for name, item in items}
        if core in _WORDS:
            return self._scalar(shape, value, path)
        if issubclass(core, Enum):
            try:
                return core(value)
            except ValueError:
                known = ", ".join(str(member.value) for member in core)
                raise self._wrong(path, f"{value!r:.80} is not one of {known}") from None
        return self._object(core, self._typed(dict, value, path), path)

    def _scalar(self, shape: Shape, value: Any, path: str) -> Any:
        core = shape.core
        accepted: Any = {float: (int, float), Path: str, Target: str}.get(core, core)
        # True is an integer to Python, not to JSON.
        if not isinstance(value, accepted) or (isinstance(value, bool) and core is not bool):
            raise self._unexpected(path, shape.words, value)
        if core is not Target:
            return Path(value) if core is Path else value
        try:
            return Target.parse(value)
        except InputError as error:
            raise self._wrong(path.rpartition(".")[0], str(error)) from None  # it begins with the field's name

    def _items(self, types_: tuple[Any, ...], values: list[Any], path: str) -> Iterator[Any]:
        types_ = types_[:1] * len(values) if types_[-1] is ... else types_
        if len(types_) != len(values):
            raise self._wrong(path, f"expected {len(types_)} elements, found {len(values)}")
        for index, (type_, item) in enumerate(zip(types_, values, strict=True)):
            yield self.value(Shape.of(type_), item, f"{path}[{index}]")

    def _object(self, cls: Any, document: dict[str, Any], path: str) -> Any:
        name = "" if self.exact else getattr(cls, "schema_name", "")
        if name and document.get("schema") != name:
            raise self._wrong(_join(path, "schema"), f"expected {name!r}, found {document.get('schema')!r:.80}")
        values: dict[str, Any] = {}
        derived: dict[str, Any] = {}
        missing: list[DocumentField] = []
        for field in document_fields(cls, self.exact):
            item: Any = document
            if field.plain is not None and type(plain := document.get(field.path[0])) is field.plain:
                values[field.attribute] = plain
                continue
            below = path
            for part in field.path:
                item = {} if item is MISSING else self._typed(dict, item, below)
                item, below = item.get(part, MISSING), _join(below, part)
            if item is not MISSING:
                (derived if field.derived else values)[field.attribute] = self.value(field.shape, item, below)
            elif self.exact or not field.has_default:
                missing.append(field)
        for field in missing:
            raise self._unexpected(_join(path, ".".join(field.path)), field.shape.words, None)
        for field in () if self.exact else _hidden_fields(cls):
            values[field.attribute] = field.shape.core()
        decoded = cls(**values)
        return decoded.restored(derived) if derived else decoded

    def _typed(self, type_: type[T], value: Any, path: str) -> T:
        if not isinstance(value, type_):
            raise self._unexpected(path, "a list" if type_ is list else "an object", value)
        return value

    def _unexpected(self, path: str, words: str, value: Any) -> InputError:
        return self._wrong(path, f"expected {words}, found {'nothing' if value is None else type(value).__name__}")

    def _wrong(self, path: str, problem: str) -> InputError:
        return InputError(": ".join(part for part in (self.where, path, problem) if part))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
