"""Other releases of Triton to try the unchanged case with: near ones first, and, where those refuse the kernel for an
API that they lack, ones that have it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from triage.harness.toolchains import Toolchain
from triage.knowledge.missing_api import lacking
from triage.model.diagnosis import Diagnosis
from triage.model.releases import sort_key
from triage.model.report import Tried

_NAME = re.compile(r"has no attribute '(\w+)'|cannot import name '(\w+)'|keyword argument '(\w+)'")
_MODULE = re.compile(r"No module named 'triton\.([\w.]+)'")
_MOST = 2
"""Installed releases with the API that are tried: each costs the start of a server and a second of compiling."""


def near(own: str, installed: Iterable[Toolchain]) -> list[Toolchain]:
    """The installed releases to try, the nearest newer one first."""
    others = _by_release(own, installed)
    newer = [other for other in others if sort_key(other.release) > sort_key(own)]
    older = [other for other in others if other not in newer]
    # The nearest are the easiest to move to; the newest shows whether there is a fix at all.
    return list(dict.fromkeys(newer[:2] + newer[-1:] + older[-1:]))


def refusals(tried: Iterable[Tried], own: str, failure: Diagnosis | None) -> dict[str, str]:
    """Releases that refused the kernel for an API that they lack, with the text that says so. ``failure`` is that of
    the release ``own``."""
    texts = {attempt.release: attempt.headline for attempt in tried if attempt.release is not None}
    texts[own] = failure.message if failure is not None else ""
    return {release: line for release, text in texts.items() if (line := lacking(text)) is not None}


def with_api(
    own: str, installed: Iterable[Toolchain], tried: Iterable[Tried], refused: Mapping[str, str]
) -> list[Toolchain]:
    """Installed releases that were not tried and whose sources name what ``refused`` lack: the nearest to those, and
    thereby the newest of an API that was removed, first. A release that itself lacks the API (``own`` in ``refused``)
    needs it from either side, others look for what is newer than they are."""
    done = {attempt.release for attempt in tried}
    others = [other for other in _by_release(own, installed) if other.release not in done]
    newer = [other for other in others if sort_key(other.release) > sort_key(own)]
    older = [other for other in others if other not in newer]
    others = [*reversed(older), *newer] if own in refused else [*reversed(newer)]
    return [other for other in others if all(_names(other.package, text) for text in refused.values())][:_MOST]


def fix_to_make(own: str, fixed_in: str | None, tried: Iterable[Tried], refused: Mapping[str, str]) -> str | None:
    """The release of a known fix, where only newer ones than it were tried and they lack what the kernel uses."""
    if fixed_in is None or sort_key(fixed_in) <= sort_key(own):
        return None
    done = {attempt.release for attempt in tried}
    later = [release for release in refused if sort_key(release) > sort_key(fixed_in)]
    return fixed_in if later and fixed_in not in done else None


def _by_release(own: str, installed: Iterable[Toolchain]) -> list[Toolchain]:
    """One toolchain for each release but ``own``, oldest first."""
    others: dict[str, Toolchain] = {}
    for other in installed:
        if other.release != own:
            others.setdefault(other.release, other)
    return sorted(others.values(), key=lambda other: sort_key(other.release))


def _names(package: Path, refusal: str) -> bool:
    """Whether a release's own sources name what another one lacks. True where the text does not say what that is."""
    if module := _MODULE.search(refusal):
        path = package.joinpath(*module[1].split("."))
        return path.is_dir() or path.with_suffix(".py").is_file()
    name = _NAME.search(refusal)
    if name is None:
        return True
    word = re.compile(rf"\b{next(filter(None, name.groups()))}\b".encode())
    return any(word.search(file.read_bytes()) for file in sorted(package.rglob("*.py")))
