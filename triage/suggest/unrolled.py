"""Advice for compiles that ran out of time or memory on a block that is not a tile: only a loop makes it smaller."""

from collections.abc import Iterator

from triage.model.diagnosis import Trait
from triage.model.report import Suggestion, SuggestionKind
from triage.source.roles import RoleKind
from triage.suggest.configuration import DEFAULT_WARPS
from triage.suggest.scene import Scene

_MANY = 512
"""Values a thread of one tensor, twice what its registers hold: every operation on them is emitted that often."""
_FEW = 32
"""Values a thread that leave registers for several tensors."""


def in_parts(scene: Scene) -> Iterator[Suggestion]:
    """To loop over sizes of the problem that a single block covers."""
    if not scene.diagnosis.kind.has(Trait.EXHAUSTED):
        return
    case = scene.case
    threads = int(case.options.get("num_warps", DEFAULT_WARPS)) * case.target.warp_size
    for name, value in case.constexprs.items():
        if type(value) is int and value >= _MANY * threads and scene.source.kind(name) is RoleKind.PROBLEM:
            change = f"loop over {name} in blocks of {_FEW * threads}"
            why = (
                f"a block of {name}={value} has {value // threads} values a thread, and every operation on them is "
                "emitted that often"
            )
            yield Suggestion({"source": change}, SuggestionKind.SOURCE, 2.0, None, why, verified=False, why=why)
