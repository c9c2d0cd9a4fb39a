"""Another target of the same vendor: the last resort, since the user has the machine that they have.

It tells where the kernel would have worked. The targets that the message names come first, then the next newer and
the next older class.
"""

from __future__ import annotations

from collections.abc import Iterator

from triage.legality.limits import limits
from triage.model.target import Target
from triage.suggest.candidate import Move, Proposal
from triage.suggest.configuration import Configuration
from triage.suggest.layout_fit import refit
from triage.suggest.scene import Scene

_CLASSES = {
    "cuda": ("75", "80", "89", "90", "100", "120"),
    "hip": ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"),
}
"""One architecture a class, oldest first."""


def targets(scene: Scene) -> Iterator[Proposal]:
    """Each other class once, nearest first."""
    now = scene.case.target
    classes = _CLASSES[now.backend]
    named = [arch for arch in scene.evidence.architectures if arch.startswith("gfx") == (now.backend == "hip")]
    position = _position(now)
    by_distance = sorted(
        classes, key=lambda arch: (abs(classes.index(arch) - position), classes.index(arch) < position)
    )
    ordered = [Target(now.backend, arch) for arch in dict.fromkeys([*named, *by_distance])]
    roomier = scene.evidence.over_shared
    for index, target in enumerate(target for target in ordered if target != now and limits(target) is not None):
        changes = {"target": str(target)}
        followed = refit(dict(changes), scene.configuration, Configuration.of(scene.case, scene.source, changes))
        prior = 3.0 + 0.2 * index - (1.0 if target.arch in named else 0)
        if roomier:
            prior += -0.5 if _shared(target) > _shared(now) else 2
        yield Proposal(followed, Move.TARGET, prior, 6, f"compiles for {target}: another machine")


def _position(target: Target) -> float:
    """Where a target stands among the classes; between two when it is none of them."""
    classes = _CLASSES[target.backend]
    if target.arch in classes:
        return float(classes.index(target.arch))
    number = int(target.arch.removeprefix("gfx"), 16) if target.backend == "hip" else int(target.arch)
    ranks = [int(arch.removeprefix("gfx"), 16) if target.backend == "hip" else int(arch) for arch in classes]
    return sum(rank < number for rank in ranks) - 0.5


def _shared(target: Target) -> int:
    row = limits(target)
    return row.shared_bytes if row else 0
