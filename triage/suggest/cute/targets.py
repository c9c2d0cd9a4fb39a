"""Architectures: the option ``arch``, and other targets, where the message or the operation asks for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from triage.model import gpus
from triage.suggest.cute.scene import CuteScene
from triage.suggest.proposal import Move, Proposal

_OLDEST = 80
"""Of those that the DSL compiles for from 4.3 on."""
_ARCH = re.compile(r"\bsm_?(\d{2,3})([af]?)\b")
_ASKED = re.compile(
    r"but got sm_|arch\w* to be|requires?\b.{0,40}\bsm_|supported (?:only )?(?:on|by|for)\b.{0,40}\bsm_"
)
_UNKNOWN = re.compile(r"KeyError: 'sm_\d+|[Uu]nsupported GPU arch|not a valid .*arch|not defined for option 'gpu-")
"""The release does not know the architecture."""
_SINCE: Mapping[str, str] = {
    "tcgen05": "100", "tmem": "100",
    "warpgroup": "90", "wgmma": "90", "tma": "90", "cluster": "90", "setmaxregister": "90", "bulk": "90",
}  # fmt: skip
"""The first architecture with an instruction, by the word that names it in the DSL (PTX ISA)."""


def targets(scene: CuteScene) -> Iterator[Proposal]:
    """The architecture as the target has it, then targets that the failure names, then the others."""
    now = scene.case.target
    asked = scene.text.partition("but got")[0].partition("note:")[0]
    named: list[tuple[str, str]] = _ARCH.findall(asked) if _ASKED.search(scene.text) else []
    yield from _architectures(scene, named)
    wanted = list(dict.fromkeys(number for number, _ in named if number != now.arch))
    if not wanted:
        wanted = _by_operation(scene)
    others = [row.name for row in gpus.ARCHITECTURES if row.backend == now.backend and row.typical]
    if _UNKNOWN.search(scene.text):
        wanted = [arch for arch in others if int(arch) > int(now.arch)][:2]
    if wanted and named:
        others = []  # The message lists all that have it.
    for index, arch in enumerate(dict.fromkeys([*wanted, *others])):
        if arch == now.arch or int(arch) < _OLDEST:
            continue
        prior = (-0.5 if arch in wanted else 3.0) + 0.15 * index
        other = f"{now.backend}:{arch}"
        why = f"compiles for {other}: another machine"
        changes: dict[str, str | None] = {"target": other}
        if "arch" in scene.case.options:
            changes["arch"] = None
        yield Proposal(changes, Move.TARGET, prior, 6, why)


def _architectures(scene: CuteScene, named: list[tuple[str, str]]) -> Iterator[Proposal]:
    """Other features of the same architecture."""
    now = scene.case.options.get("arch")
    if now is None:
        return
    match = _ARCH.fullmatch(str(now))
    number = match[1] if match else scene.case.target.arch
    for index, suffix in enumerate(("a", "f", "")):
        arch = f"sm_{number}{suffix}"
        if arch == now or (suffix and int(number) < 90):
            continue
        prior = 0.8 + 0.2 * index - (1.4 if (number, suffix) in named else 0.0)
        yield Proposal({"arch": arch}, Move.OPTION, prior, 0.5, f"arch={arch}")


def _by_operation(scene: CuteScene) -> list[str]:
    """Architectures with the operation of the failing line, where the one asked for is too old."""
    statements = [statement for line in scene.lines if (statement := scene.flow.statement(line)) is not None]
    words = " ".join([scene.text, *map(ast.unparse, statements)]).lower()
    needed = [since for word, since in _SINCE.items() if word in words and int(since) > int(scene.case.target.arch)]
    if not needed:
        return []
    first = max(needed, key=int)
    return [first, *(["103"] if first == "100" else [])]
