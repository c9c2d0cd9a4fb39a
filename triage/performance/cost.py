"""What a neighbour that compiles costs: its rank among the others, and the description of it.

Legal is not enough. On an H200 a matmul that falls from wgmma to mma.sync and spills is a hundred times slower than
one that keeps wgmma, and both "work". So the instruction class comes first, spills second, and only then what the
user would have to change.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import log2

from triage.ir.matrix_instruction import matrix_instruction
from triage.legality import occupancy
from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.report import EQUAL_ESTIMATES, LOSSY, Suggestion, SuggestionKind
from triage.model.target import Target
from triage.model.words import count
from triage.performance.drawbacks import SERIOUS_SPILL
from triage.source.dtypes import dtype_text

_SPEED = {
    TensorCore.TCGEN05: 4,
    TensorCore.WGMMA: 3,
    TensorCore.MFMA: 3,
    TensorCore.MMA_SYNC: 2,
    TensorCore.WMMA: 2,
    TensorCore.NONE: 0,
}
"""Throughput by class, coarsely; AMD's two never meet NVIDIA's in one comparison, since a target is one vendor's."""

GROUP_THREADS = 128
"""A warp group, which issues wgmma and tcgen05 (PTX ISA)."""
_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
_SPECIALIZES = re.compile(r"\btt\.warp_specialize\b|\bttg\.warp_specialize\b|ttg\.partition\b")
"""The attribute of a loop that requests it, and what it is lowered to."""


@dataclass(frozen=True, slots=True)
class FastPath:
    """What the failing configuration asked for: the matrix instruction (None where its IR does not show it), the
    pipeline's stages, and whether automatic warp specialization was requested."""

    tensor_core: TensorCore | None = None
    stages: int = 1
    warp_specialized: bool = False


def fast_path(ir_text: str, target: Target, stages: int) -> FastPath:
    """Read from the last IR that the failing compile left; empty text where it left none."""
    return FastPath(matrix_instruction(ir_text, target), stages, bool(_SPECIALIZES.search(ir_text)))


DOUBT = 1.23
"""Three in four estimates are off by no more than this factor either way, against others of the same kernel that are
within twice the fastest (``tests/benchmarks/measured``)."""


def order(
    suggestions: Iterable[Suggestion],
    meant: FastPath,
    seconds: Callable[[Suggestion], float | None] = lambda suggestion: None,
    equal: float = EQUAL_ESTIMATES,
) -> list[Suggestion]:
    """Best first. ``seconds`` are estimates, and those within the factor ``equal`` do not tell suggestions apart; where
    one is missing, the order is that of :func:`_by_class`. ``meant`` is what the failing configuration was meant to
    get. Equal ones keep their order."""
    by_class = _by_class(list(suggestions), meant)
    compiled = [suggestion for suggestion in by_class if suggestion.resources is not None]
    compared = [suggestion for suggestion in compiled if "target" not in suggestion.changes]
    times = {id(suggestion): estimate for suggestion in compared if (estimate := seconds(suggestion)) is not None}
    if len(times) < len(compared):
        return by_class
    # Another release touches every kernel: only what is surely slower comes behind it.
    for suggestion in compared:
        if suggestion.kind is SuggestionKind.TOOLCHAIN:
            times[id(suggestion)] *= DOUBT
    ordered: list[Suggestion] = []
    reference = _reference(compared, meant)

    def behind(suggestion: Suggestion) -> tuple[bool, bool]:
        # What may change results is another program. Too few warps for the class that was asked for do not repair it:
        # num_warps=1 and 2 in place of wgmma reached 2 to 3 of 264 TFLOP/s on H100 and H200, where a smaller tile that
        # drops to mma.sync as well reached the 88 that were expected of it.
        few = suggestion.resources is not None and (suggestion.resources.threads or GROUP_THREADS) < GROUP_THREADS
        return bool(suggestion.results), few and _lost(suggestion, reference) > 0

    for group_of in sorted({behind(suggestion) for suggestion in compared}):
        group = [suggestion for suggestion in compared if behind(suggestion) == group_of]
        ordered += _best_of_equal(sorted(group, key=lambda suggestion: times[id(suggestion)]), times, equal, meant)
    return [*ordered, *(suggestion for suggestion in by_class if id(suggestion) not in times)]


def _best_of_equal(
    suggestions: list[Suggestion], times: Mapping[int, float], equal: float, meant: FastPath
) -> list[Suggestion]:
    """Of those that the estimates do not tell apart, what loses least of what the estimates do not see, then the
    nearest change. On an H200 a TF32 matmul that takes a tile a trip through registers, and is not warp-specialized,
    reached 59 to 72 TFLOP/s, and 272 without that."""

    def key(suggestion: Suggestion) -> tuple[int, bool, float, float]:
        resources = suggestion.resources
        copies = resources.register_copies if resources is not None else 0
        unspecialized = meant.warp_specialized and not (resources is not None and resources.warp_specialized)
        return copies, unspecialized, change_penalty(suggestion), suggestion.distance

    ordered: list[Suggestion] = []
    while suggestions:
        least = times[id(suggestions[0])]
        same = [suggestion for suggestion in suggestions if times[id(suggestion)] <= equal * least]
        ordered += sorted(same, key=key)
        suggestions = suggestions[len(same) :]
    return ordered


def _by_class(candidates: list[Suggestion], meant: FastPath) -> list[Suggestion]:
    """By the class of instruction, spills, and what the user must change. Without a class in ``meant``, the best one
    that a suggestion for the same target reached is the measure."""
    reference = _reference(candidates, meant)
    fewest_copies = min((s.resources.register_copies for s in candidates if s.resources), default=0)

    def key(suggestion: Suggestion) -> tuple[int, bool, int, int, bool, int, float, float, int]:
        resources = suggestion.resources
        if resources is None:
            return 2, False, 0, 0, False, 0, 0.0, suggestion.distance, 0  # advice, after all that was compiled
        lost = _lost(suggestion, reference)
        spills = _spilled(resources)
        # Each of these leaves the matrix instructions waiting for data.
        waits = reference > 0 and (
            loses_pipelining(suggestion, meant.stages)
            + (meant.warp_specialized and not resources.warp_specialized)
            + (resources.register_copies > fewest_copies)
        )
        penalty = change_penalty(suggestion)
        # What may change results comes behind what cannot: it is another program.
        doubtful = bool(suggestion.results)
        # Another machine is not a repair: it shows where the kernel would have worked.
        elsewhere = int("target" in suggestion.changes)
        # What cannot hold the data is fast for that reason: behind all that can.
        lossy = LOSSY in suggestion.results
        registers = resources.registers or 0
        return elsewhere, lossy, lost, spills, doubtful, int(waits), penalty, suggestion.distance, registers

    return sorted(candidates, key=key)


def _spilled(resources: Resources) -> int:
    """How much memory traffic spills make, 0 for none. A block's bytes count, since a block does the tile's work
    whatever its threads are; in steps of a tenth, since a few bytes more say nothing, and one step for all that stays
    in L1."""
    bytes_a_thread = resources.spill_bytes or 0
    if bytes_a_thread == 0:
        return 0
    if bytes_a_thread < SERIOUS_SPILL:
        return 1
    return 2 + round(7 * log2(bytes_a_thread * (resources.threads or 128)))


def loses_pipelining(suggestion: Suggestion, stages: int) -> bool:
    """True when loads no longer overlap the matrix instructions: one stage where the user had several. It costs less
    than losing the instruction class or spilling, and more than any other change of an option."""
    now = suggestion.changes.get("num_stages")
    return isinstance(now, int) and now <= 1 < stages


def _reference(suggestions: list[Suggestion], meant: FastPath) -> int:
    if meant.tensor_core is not None:
        return _SPEED[meant.tensor_core]
    here = [_SPEED[s.resources.tensor_core] for s in suggestions if s.resources and "target" not in s.changes]
    return max(here, default=0)


def _lost(suggestion: Suggestion, reference: int) -> int:
    return max(reference - _SPEED[suggestion.resources.tensor_core], 0) if suggestion.resources is not None else 0


def change_penalty(suggestion: Suggestion) -> float:
    """How much a user gives up with the kind of change: the dearest of its changes decides."""
    match suggestion.kind:
        case SuggestionKind.SOURCE:
            return 1.0  # among the configurations: a line of the user's own kernel is as near as a tile size
        case SuggestionKind.TOOLCHAIN:
            return 4.5  # another release touches every kernel, and still changes neither the data nor the machine
    steers = not suggestion.results  # A flag that only steers the compiler is an option by another name.
    return max((_penalty(name, value, steers) for name, value in suggestion.changes.items()), default=0.0)


_ALIGNED = 0.5
"""Of an argument's type that states more of the same data: the caller sees to its alignment, and the kernel stays."""


def _penalty(name: str, value: object, steers: bool) -> float:
    if name == "target":
        return 6.0
    if isinstance(value, str):
        if steers and value.startswith(("tensor<", "ptr<")):
            return _ALIGNED
        if value.startswith(("*", "tensordesc<", "tensor<", "ptr<")):
            return 5.0
        if steers and value.isidentifier():
            return 0.0
        return 4.0 if dtype_text(value) is not None else 3.0
    if name in _OPTIONS or (steers and isinstance(value, bool)):
        return 0.0
    return 2.0 if isinstance(value, bool) else 1.0


def note(resources: Resources, meant: FastPath, target: Target) -> str:
    """What a suggestion costs, in words and numbers."""
    expected = meant.tensor_core
    spills = resources.spill_bytes
    slower = bool(spills and spills >= SERIOUS_SPILL)
    parts = []
    if change := _class_in_words(resources.tensor_core, expected):
        parts.append(change)
        slower |= expected is not None and _SPEED[resources.tensor_core] < _SPEED[expected]
    if spills is not None:
        parts.append(f"spills {spills} B a thread" if spills else "no spills")
    text = " and ".join(parts) if spills else ", ".join(parts)
    if meant.warp_specialized and not resources.warp_specialized:
        text += ", no warp specialization"
    if resources.register_copies and resources.tensor_core is not TensorCore.NONE:
        text += f", {count(resources.register_copies, 'tile')} a trip through registers"
    if slower:
        text += ": expect a large slowdown"
    sizes = []
    if resources.registers is not None:
        sizes.append(f"{resources.registers} registers a thread")
    if resources.shared_bytes:
        sizes.append(f"{resources.shared_bytes} B of shared memory")
    if resident := _occupancy(resources, target):
        sizes.append(resident)
    if sizes:
        text = f"{text}; {', '.join(sizes)}" if text else ", ".join(sizes)
    return text


def _occupancy(resources: Resources, target: Target) -> str:
    """How many blocks an SM holds, and what keeps it from holding more."""
    if not resources.threads or resources.registers is None:
        return ""
    held = occupancy.of(
        shared_bytes=resources.shared_bytes, registers=resources.registers, threads=resources.threads, target=target
    )
    if held is None or held.blocks_per_sm < 1:
        return ""
    unit = "an SM" if target.backend == "cuda" else "a compute unit"
    return f"{count(held.blocks_per_sm, 'block')} {unit} (limited by {held.limited_by})"


def _class_in_words(now: TensorCore, expected: TensorCore | None) -> str:
    if expected is None:
        return "" if now is TensorCore.NONE else f"uses {now.value}"
    if now is expected:
        return "" if now is TensorCore.NONE else f"keeps {now.value}"
    if now is TensorCore.NONE:
        return f"drops from {expected.value} to no matrix instruction"
    if _SPEED[now] < _SPEED[expected]:
        return f"drops from {expected.value} to {now.value}"
    return f"uses {now.value}" if expected is TensorCore.NONE else f"uses {now.value} in place of {expected.value}"
