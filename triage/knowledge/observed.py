"""Recorded observations of a reproducer, release by release: ``observed.json`` in its folder, written by ``kb check``.

Values, their JSON, and the comparison of recorded with new observations.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from triage.filesystem.files import MOST_DOCUMENT, read_file
from triage.model.compilers import Compiler
from triage.model.document import Doc, Documented, encode_fields
from triage.model.errors import InputError
from triage.model.releases import sort_key

SCHEMA = "triton-triage/observed/1"
FILE = "observed.json"


class Behaviour(str, Enum):
    """How a reproducer behaves on a release."""

    FAILS = "fails"
    COMPILES = "compiles"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Observation(Documented):
    """One reproducer on one release. ``status``, ``stage``, ``kind`` and ``signature`` describe a failure."""

    behaviour: Annotated[Behaviour, Doc(name="verdict")]
    status: str | None = None
    stage: str | None = None
    kind: str | None = None
    signature: str | None = None

    def to_json(self) -> dict[str, str]:
        """The JSON object, without fields that are None."""
        return {name: value for name, value in encode_fields(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Deviation:
    """A new observation that is not the recorded one; ``recorded`` is None if nothing was recorded."""

    reproducer: str
    compiler: Compiler
    release: str
    variant: str
    recorded: Observation | None
    observed: Observation


Table = Mapping[str, Observation]
"""Release → observation."""


def read(folder: Path) -> dict[str, dict[str, Observation]]:
    """Variant (``case``, ``fixed``) → table; empty if nothing is recorded. Raises InputError."""
    path = folder / FILE
    try:
        data: Any = json.loads(read_file(path, folder, MOST_DOCUMENT))
        if data["schema"] != SCHEMA:
            raise InputError(f"{path}: schema: expected {SCHEMA!r}, found {data['schema']!r}")
        return {
            variant: {release: Observation.from_json(row, f"{path}: {release}") for release, row in table.items()}
            for variant, table in data["observed"].items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a table of observations ({error}); write it with kb check --update") from None


def write(folder: Path, tables: Mapping[str, Table]) -> None:
    """Record tables, with the releases in order."""
    observed = {
        variant: {release: table[release].to_json() for release in sorted(table, key=sort_key)}
        for variant, table in sorted(tables.items())
    }
    text = json.dumps({"schema": SCHEMA, "observed": observed}, indent=1)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def compare(reproducer: str, variant: str, compiler: Compiler, recorded: Table, observed: Table) -> list[Deviation]:
    """The releases, of those that were run, on which the two tables differ."""
    return [
        Deviation(reproducer, compiler, release, variant, recorded.get(release), observation)
        for release, observation in sorted(observed.items(), key=lambda item: sort_key(item[0]))
        if recorded.get(release) != observation
    ]
