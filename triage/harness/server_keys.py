"""Names of the servers that a request needs. What does not change between the requests of a sweep is computed once."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple

from triage.harness.environment import deciding_variables
from triage.harness.remote import Key, Level
from triage.harness.request import Request
from triage.model.case import Case


class _CaseSource(NamedTuple):
    """``facts``: of the file as it was read, None where it cannot be read."""

    facts: tuple[int, ...] | None
    location: str
    digest: str


class ServerKeys:
    """Computes keys. An edit of the source is noticed by the facts of its file, a change of the environment after
    :meth:`forget_environment`."""

    def __init__(self) -> None:
        self._variables: str | None = None
        self._sources: dict[tuple[Path, Path | None, Path | None], _CaseSource] = {}

    def forget_environment(self) -> None:
        """The environment of this process may have changed."""
        self._variables = None

    def of(self, request: Request, isolation: str) -> tuple[tuple[Level, Key], ...]:
        """The servers that a request needs, from the toolchain server down. ``isolation``: a name of servers of its
        own."""
        if self._variables is None:
            self._variables = hashlib.sha256(json.dumps(deciding_variables()).encode()).hexdigest()
        toolchain, case = request.toolchain, request.case
        # The interpreter's path as well: two environments may have the same Triton and different other packages.
        above: Key = (toolchain.identity, str(toolchain.python), isolation, self._variables, case.target.backend)
        target: Key = (*above, str(case.target))
        source = self._source(case)
        return (Level.TOOLCHAIN, above), (Level.TARGET, target), (Level.CASE, (*target, source.location, source.digest))

    def _source(self, case: Case) -> _CaseSource:
        key = (case.path, case.slice, case.boundary)
        facts = _facts(case.slice or case.path)
        known = self._sources.get(key)
        if known is None or facts is None or known.facts != facts:
            try:
                digest = hashlib.sha256(case.read()).hexdigest()
            except OSError:
                digest = "unreadable"
            known = self._sources[key] = _CaseSource(facts, str(case.location), digest)
        return known


def shared(key: Key) -> Key:
    """The key of a case server, without the name of servers of its own."""
    toolchain, python, _, *rest = key
    return (toolchain, python, "", *rest)


def location_of(key: Key) -> str:
    """The path of the module that a case server has imported."""
    return key[-2]


def _facts(path: Path) -> tuple[int, ...] | None:
    try:
        facts = os.stat(path)  # noqa: PTH116 - for each compile
    except (OSError, ValueError):
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
