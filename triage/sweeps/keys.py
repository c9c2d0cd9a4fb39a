"""What a result is remembered by: everything that decides it, and nothing of the machine that it came from."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from triage._version import __version__
from triage.cases.portable import source_digest
from triage.harness.environment import COMPILER, deciding_variables
from triage.harness.store import own_digest
from triage.harness.toolchains import Toolchain
from triage.harness.toolchains.model import assemblers, libraries
from triage.model.case import Case

_INSTALLED = ("site-packages", "dist-packages")


def conditions() -> str:
    """Hash of what decides results beside case and toolchain: triage's own code, and variables of the compiler."""
    variables = {name: value for name, value in deciding_variables().items() if name.startswith(COMPILER)}
    return _hash([__version__, own_digest(), variables])


class CaseKeys:
    """Keys of the configurations of some cases under these conditions. The sources are read once."""

    def __init__(self, under: str) -> None:
        self._under = under
        self._sources: dict[tuple[Path, Path | None], str] = {}

    def key(self, case: Case) -> str:
        """Hash of source, configuration, target, release and conditions. Raises InputError where the source cannot be
        read."""
        return self.row_key(case)[0]

    def row_key(self, case: Case) -> tuple[str, dict[str, Any]]:
        """The key, and the configuration that is in it."""
        location = (case.path, case.slice)
        if location not in self._sources:
            self._sources[location] = source_digest(case)
        stated = configuration(case)
        return _hash([self._under, self._sources[location], stated]), stated


def configuration(case: Case) -> dict[str, Any]:
    """What is compiled of a source: the case's document without what decides nothing."""
    document = case.to_json()
    decides = ("language", "signature", "constexprs", "construct", "divisible", "target", "options", "toolchain")
    return {"kernel": case.name, **{name: document[name] for name in decides if name in document}}


@cache
def toolchain_identity(toolchain: Toolchain) -> str:
    """Equal for the same wheel on every machine: by the sizes of its files. What is not installed from one may be
    edited in place, and is identified by its files' times as well."""
    package = toolchain.package
    if not any(name in package.parts for name in _INSTALLED):
        return toolchain.identity
    files = (*libraries(package, toolchain.compiler), *assemblers(package), *sorted(package.rglob("*.py")))
    sizes = [(path.relative_to(package).as_posix(), path.stat().st_size) for path in files]
    return _hash([toolchain.release, toolchain.python_version, sizes])[:20]


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
