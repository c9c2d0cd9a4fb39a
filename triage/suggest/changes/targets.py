"""Another target of the same vendor: the last resort, since the user has the machine that they have.

It shows where the kernel would have worked. The targets that the message names come first, then the next newer and
the next older class.
"""

from collections.abc import Iterator

from triage.model import gpus
from triage.model.target import Target
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene


def targets(scene: Scene) -> Iterator[Proposal]:
    """Each other class once, nearest first."""
    now = scene.case.target
    classes = [row.name for row in gpus.ARCHITECTURES if row.backend == now.backend and row.typical]
    named = [arch for arch in scene.evidence.architectures if arch.startswith("gfx") == (now.backend == "hip")]
    position = _position(now, classes)
    by_distance = sorted(
        classes, key=lambda arch: (abs(classes.index(arch) - position), classes.index(arch) < position)
    )
    ordered = [Target(now.backend, arch) for arch in dict.fromkeys([*named, *by_distance])]
    for index, target in enumerate(target for target in ordered if target != now and _shared(target)):
        changes = scene.with_layouts({"target": str(target)})
        prior = 3.0 + 0.2 * index - (1.0 if target.arch in named else 0)
        if scene.evidence.over_shared:
            prior += -0.5 if _shared(target) > _shared(now) else 2
        yield Proposal(changes, Move.TARGET, prior, 6, f"compiles for {target}: another machine")


def _position(target: Target, classes: list[str]) -> float:
    """The index of a target among the classes, oldest first; between two of them when it is not one itself."""
    if target.arch in classes:
        return float(classes.index(target.arch))
    number = gpus.number(target.backend, target.arch)
    return sum(gpus.number(target.backend, arch) < number for arch in classes) - 0.5


def _shared(target: Target) -> int:
    """Bytes of shared memory a block, 0 where they are not known."""
    gpu = target.gpu
    return gpu.block.shared_bytes if gpu is not None and gpu.block is not None else 0
