"""The JSON Schema (draft 2020-12) of documents, from the dataclasses of their values."""

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from triage.model.document import Documented, Shape, document_fields
from triage.model.target import Target

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", Path: "string", Target: "string"}


def schema(cls: type[Documented], added: Mapping[str, type[Documented]], **keywords: Any) -> dict[str, Any]:
    """The schema of a document. ``added``: types of further fields, which it may lack."""
    definitions = _Definitions()
    root = definitions.object(cls)
    root["properties"] |= {name: definitions.of(Shape.of(type_)) for name, type_ in added.items()}
    return {"$schema": _DRAFT, **keywords, **root, "$defs": definitions.named}


class _Definitions:
    """The types that a document is made of: ``named`` are those for ``$defs``."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self._types: dict[str, Any] = {}

    def of(self, shape: Shape) -> dict[str, Any]:
        """The schema of a type."""
        schema, doc = self._core(shape), shape.doc
        if shape.nullable or doc.blank:
            is_plain = isinstance(schema.get("type"), str)
            schema = schema | {"type": [schema["type"], "null"]} if is_plain else {"anyOf": [schema, {"type": "null"}]}
        return {**schema, **(doc.schema or {}), **({"description": doc.description} if doc.description else {})}

    def _core(self, shape: Shape) -> dict[str, Any]:
        if shape.core is Any:
            return {}
        if shape.core in _TYPES:
            return {"type": _TYPES[shape.core]}
        if shape.items:
            if shape.items[-1] is ...:
                return {"type": "array", "items": self.of(Shape.of(shape.items[0]))}
            items = [self.of(Shape.of(item)) for item in shape.items]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
        if shape.values:
            values = self.of(Shape.of(shape.values))
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if issubclass(shape.core, Enum):
            return self._reference(shape.core, lambda enum: {"enum": [member.value for member in enum]})
        return self._reference(shape.core, self.object)

    def _reference(self, cls: Any, make: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        name = cls.__name__[0].lower() + cls.__name__[1:]
        if self._types.setdefault(name, cls) is not cls:
            raise TypeError(f"{name}: two types of one schema have this name")
        if name not in self.named:
            description = " ".join(cls.__doc__.partition("\n\n")[0].split())
            self.named[name] = {"description": description.partition(". ")[0].rstrip(".") + "."}
            self.named[name] |= make(cls)
        return {"$ref": f"#/$defs/{name}"}

    def object(self, cls: Any) -> dict[str, Any]:
        """The schema of a dataclass."""
        whole = _object()
        if cls.schema_name:
            whole["properties"]["schema"] = {"const": cls.schema_name}
            whole["required"].append("schema")
        for field in document_fields(cls):
            inner = whole
            for part in field.path[:-1]:
                if part not in inner["properties"]:
                    inner["properties"][part] = _object()
                    inner["required"].append(part)
                inner = inner["properties"][part]
            inner["properties"][field.path[-1]] = self.of(field.shape)
            if not field.shape.doc.optional:
                inner["required"].append(field.path[-1])
        return {**whole, **cls.schema_rules}


def _object() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "required": []}
