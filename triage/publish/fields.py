"""Reading a document that a command left: what is not as the contract says is one line that names file and field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from triage.model.errors import InputError

_MOST_BYTES, _MOST_DEPTH = 8 << 20, 40
"""A document with 150 neighbours tried has 300 kB, and is eight deep."""


class Fields:
    """An object of a document, with the place that it has there. All methods raise InputError."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values, self.where = values, where

    def text(self, name: str) -> str:
        """A text that must be there."""
        return str(self._typed(name, str, "a text"))

    def maybe(self, name: str) -> str | None:
        """A text, or None where there is null or nothing."""
        return None if self._values.get(name) is None else self.text(name)

    def number(self, name: str) -> float | None:
        """A number, or None."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._bad(name, "a number", value)
        return value

    def whole(self, name: str) -> int | None:
        """An integer, or None."""
        value = self.number(name)
        if isinstance(value, float):
            raise self._bad(name, "an integer", value)
        return value

    def flag(self, name: str) -> bool:
        """A truth value; false where there is none."""
        return bool(self._values.get(name))

    def inside(self, name: str) -> Fields:
        """An object; empty where there is null or nothing."""
        value = self._values.get(name)
        if value is not None and not isinstance(value, dict):
            raise self._bad(name, "an object", value)
        return Fields(value or {}, f"{self.where}: {name}")

    def each(self, name: str) -> list[Fields]:
        """A list of objects; empty where there is none."""
        found = []
        for place, one in enumerate(self._list(name)):
            if not isinstance(one, dict):
                raise self._bad(f"{name}[{place}]", "an object", one)
            found.append(Fields(one, f"{self.where}: {name}[{place}]"))
        return found

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty where there is none."""
        found = self._list(name)
        for place, one in enumerate(found):
            if not isinstance(one, str):
                raise self._bad(f"{name}[{place}]", "a text", one)
        return found

    def plain(self) -> Mapping[str, Any]:
        """The object itself."""
        return self._values

    def _list(self, name: str) -> list[Any]:
        value = self._values.get(name)
        if value is not None and not isinstance(value, list):
            raise self._bad(name, "a list", value)
        return value or []

    def _typed(self, name: str, type_: type, what: str) -> Any:
        value = self._values.get(name)
        if not isinstance(value, type_):
            raise self._bad(name, what, value)
        return value

    def _bad(self, name: str, wanted: str, value: Any) -> InputError:
        found = "nothing" if value is None else type(value).__name__
        return InputError(f"{self.where}: {name}: expected {wanted}, found {found}; make the triage anew")

    def __bool__(self) -> bool:
        return bool(self._values)


def load(path: Path, schema: str) -> dict[str, Any]:
    """The document in a file. Raises InputError where it is none of that schema."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path}: over {_MOST_BYTES >> 20} MiB; that is no document of triage's")
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}; make the triage anew") from None
    if not isinstance(document, dict) or document.get("schema") != schema:
        found = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise InputError(f"{path}: schema: expected {schema!r}, found {found!r}")
    if _is_deep(document):
        raise InputError(f"{path}: nested deeper than {_MOST_DEPTH}; that is no document of triage's")
    return document


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number that JSON can hold")


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(_MOST_DEPTH):
        level = [one for value in level if isinstance(value, dict | list) for one in _inside(value)]
    return bool(level)


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value
