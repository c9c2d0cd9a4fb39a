"""The layout of a given class that fits a configuration, by the rules of the instruction that uses it.

``fit`` returns a layout that differs from the given one only where the configuration leaves no choice; a layout that
already fits comes back equal. That makes two questions one: what is wrong with this layout, and how must it follow
when a tile size, the warps, the element type or the target change.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from triage.suggest.configuration import Configuration
from triage.suggest.layout_text import Layout, block_like


def fit(name: str, layout: Layout, at: Configuration) -> Layout:
    """The layout of parameter ``name``, made to fit."""
    rule = _RULES.get(layout.kind)
    return rule(name, layout, at) if rule else layout


def _parent(name: str, layout: Layout, at: Configuration) -> Layout:
    parent = layout.get("parent")
    if not isinstance(parent, Layout):
        return layout
    # A slice's one extent says nothing about the two of its parent.
    return layout.with_fields(parent=fit("" if layout.kind == "SliceLayout" else name, parent, at))


def refit(changes: dict[str, Any], before: Configuration, after: Configuration) -> dict[str, Any]:
    """``changes``, and with them every layout that they unsettle.

    A layout follows only when what fits it differs between the two configurations, so one that was deliberately
    odd stays as it is. A layout that ``changes`` sets is not touched.
    """
    followed = dict(changes)
    for name, layout in before.layouts().items():
        if name in changes:
            continue
        fitted = fit(name, layout, after)
        if str(fitted) != str(fit(name, layout, before)) and str(fitted) != str(layout):
            followed[name] = str(fitted)
    return followed


def swizzle(inner_bytes: int) -> int:
    """The widest swizzle of an NVMMA shared layout whose row holds ``inner_bytes`` (TMA and wgmma: 128, 64, 32, 0)."""
    return next((width for width in (128, 64, 32) if width <= inner_bytes), 0)


def tensor_memory_register(root: str, block: tuple[int, int], columns: int, warps: int) -> Layout:
    """The register layout that ``tcgen05.ld`` 32x32b yields: a thread a row of 128 lanes, columns along the thread.

    With 64 rows a block the lanes are halved and the columns split between them; a second warpgroup takes the other
    half of the columns.
    """
    groups = max(warps // 4, 1)
    lanes = [16, 2] if block[0] == 64 else [32, 1]
    a_thread = max(columns // lanes[1] // groups, 1)
    fields = {
        "size_per_thread": [1, a_thread],
        "threads_per_warp": lanes,
        "warps_per_cta": [min(warps, 4), groups],
        "order": [0, 1],
    }
    return Layout(f"{root}.BlockedLayout", fields, 4)


def tensor_memory_of(at: Configuration) -> Layout | None:
    """The tensor-memory layout of a configuration, where it has one."""
    return next((layout for layout in at.layouts().values() if layout.kind == "TensorMemoryLayout"), None)


def _spread(factors: list[int], order: list[int], total: int) -> list[int]:
    """Scale factors to a product of ``total`` along the slowest axis that allows it."""
    if not factors or prod(factors) == total or prod(factors) == 0:
        return factors
    scaled = list(factors)
    for axis in (axis for axis in [*reversed(order), *order] if axis < len(scaled)):
        others = prod(scaled) // scaled[axis]
        if total % others == 0:
            scaled[axis] = total // others
            return scaled
    return [total, *[1] * (len(factors) - 1)]


def _warps(_name: str, layout: Layout, at: Configuration) -> Layout:
    current = layout.get("warps_per_cta")
    if not isinstance(current, list) or not current or not all(isinstance(count, int) for count in current):
        return layout
    return layout.with_fields(warps_per_cta=_spread(current, [*range(len(current))][::-1], at.num_warps))


def _blocked(name: str, layout: Layout, at: Configuration) -> Layout:
    threads, warps, order = (layout.get(key) for key in ("threads_per_warp", "warps_per_cta", "order"))
    if not all(isinstance(value, list) for value in (threads, warps, order)):
        return layout
    memory, shape = tensor_memory_of(at), at.shape(name)
    if memory is not None and shape is not None and order == [0, 1]:
        return tensor_memory_register(layout.root, tuple(memory.get("block") or (128, 0)), shape[1], at.num_warps)
    return layout.with_fields(
        threads_per_warp=_spread(threads, order, at.target.warp_size),
        warps_per_cta=_spread(warps, order, _partition_warps(name, at) or at.num_warps),
    )


def _partition_warps(name: str, at: Configuration) -> int | None:
    """The number of warps of a worker partition whose layout this is: ``WORKER_LAYOUT`` goes with ``WORKER_WARPS``."""
    stem = name.upper().removesuffix("LAYOUT").rstrip("_")
    if not stem:
        return None
    for other, value in at.values.items():
        if isinstance(value, int) and other.upper().startswith(stem) and "WARPS" in other.upper():
            return value
    return None


def _nvmma_shared(name: str, layout: Layout, at: Configuration) -> Layout:
    bits, shape = layout.get("element_bitwidth"), at.shape(name)
    operand = at.operand_bits()
    if not isinstance(bits, int) or shape is None:
        return layout
    if operand is not None and operand in (8, 16, 32):
        bits = operand
    inner = shape[0] if layout.get("transposed") else shape[1]
    widest = swizzle(inner * bits // 8)
    # A narrower swizzle than the row allows is legal: only a swizzle that is too wide, or was the widest, changes.
    return layout.with_fields(swizzle_byte_width=widest, element_bitwidth=bits)


def _nvmma_distributed(name: str, layout: Layout, at: Configuration) -> Layout:
    layout = _warps(name, layout, at)
    version, warps, instruction = (layout.get(key) for key in ("version", "warps_per_cta", "instr_shape"))
    if not all(isinstance(value, list) and value for value in (version, warps, instruction)):
        return layout
    if version[0] != 3:
        return layout.with_fields(instr_shape=[16, 8]) if len(instruction) != 2 else layout
    if at.num_warps >= 4 and warps[0] % 4:
        # wgmma is issued by warpgroups: four warps side by side along M.
        warps = [at.num_warps, *[1] * (len(warps) - 1)]
        layout = layout.with_fields(warps_per_cta=warps)
    bits, shape = at.operand_bits() or 16, at.shape(name)
    columns = instruction[1] if len(instruction) > 1 else 8
    if len(instruction) == 2 and shape is not None:
        columns = shape[1]
    if shape is not None:
        columns = min(columns, shape[1] // max(warps[-1], 1), 256)
    # wgmma: 64 rows a warpgroup, 16 a warp; K is 256 bits of the operands.
    return layout.with_fields(instr_shape=[16, max(columns, 8), max(256 // bits, 1)])


def _tensor_memory(name: str, layout: Layout, at: Configuration) -> Layout:
    block, shape = layout.get("block"), at.shape(name)
    if not isinstance(block, tuple | list) or len(block) != 2 or shape is None:
        return layout
    # tcgen05.mma writes 64 or 128 rows and at most 256 columns an instruction.
    rows = 64 if shape[0] < 128 else 128
    return layout.with_fields(block=block_like(block, rows, min(shape[1], 256)))


_RULES: Mapping[str, Callable[[str, Layout, Configuration], Layout]] = {
    "BlockedLayout": _blocked,
    "NVMMASharedLayout": _nvmma_shared,
    "NVMMADistributedLayout": _nvmma_distributed,
    "TensorMemoryLayout": _tensor_memory,
    "AMDMFMALayout": _warps,
    "AMDWMMALayout": _warps,
    "DotOperandLayout": _parent,
    "SliceLayout": _parent,
}
