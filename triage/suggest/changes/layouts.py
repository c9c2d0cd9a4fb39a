"""Gluon layouts: made to fit, copied from a sibling, or one field varied.

Most layout failures have one of three causes: the layout does not fit the tile, warps or element (``layout_fit`` has
the rules), its class is not read by the instruction (a sibling in the same kernel shows the right class), or one field
is wrong.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

from triage.model.gpus import TensorCore
from triage.suggest.layout_fit import fit, swizzle, tensor_memory_of, tensor_memory_register
from triage.suggest.layout_text import Layout, block_like, make
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_ACCUMULATORS = ("NVMMADistributedLayout", "AMDMFMALayout", "AMDWMMALayout")


def layouts(scene: Scene) -> Iterator[Proposal]:
    """All changes of layouts alone, and the number of warps that the layouts were written for."""
    every = scene.configuration.layouts()
    yield from _warps_of(scene, every)
    yield from _fitted(scene, every)
    yield from _majors(scene, every)
    for name, layout in every.items():
        yield from _from_siblings(name, layout, every)
        yield from _other_class(scene, name, layout)
        vary = _VARIED.get(layout.kind)
        for prior, other, why in vary(scene, name, layout) if vary else ():
            if str(other) != str(layout):
                yield Proposal({name: str(other)}, Move.LAYOUT, prior, 2.5, why)


def _warps_of(scene: Scene, every: dict[str, Layout]) -> Iterator[Proposal]:
    counts = [layout.get("warps_per_cta") for layout in every.values()]
    products = {prod(c) for c in counts if isinstance(c, list) and c and all(isinstance(n, int) for n in c)}
    for warps in sorted(products - {scene.configuration.num_warps}):
        if 0 < warps <= scene.max_warps and warps & (warps - 1) == 0:
            why = f"the {warps} warps that the layouts are written for"
            yield Proposal({"num_warps": warps}, Move.OPTION, 0.1, 1, why)


def _fitted(scene: Scene, every: dict[str, Layout]) -> Iterator[Proposal]:
    """Each layout that does not fit its configuration, corrected; and all of them together."""
    corrected: dict[str, Any] = {}
    for name, layout in every.items():
        fitted = str(fit(name, layout, scene.configuration))
        if fitted != str(layout):
            corrected[name] = fitted
            yield Proposal(
                {name: fitted}, Move.LAYOUT, 0.0, 2.5, f"{name} made to fit the tile, the warps and the type"
            )
    if len(corrected) > 1:
        yield Proposal(corrected, Move.LAYOUT, 0.2, 2.5 * len(corrected), "every layout made to fit the configuration")
    # Correcting one may unsettle the others: a smaller tensor-memory block wants other registers.
    for name, value in corrected.items():
        followed = scene.with_layouts({name: value})
        if len(followed) > 1:
            yield Proposal(followed, Move.LAYOUT, 0.1, 2.5 * len(followed), f"{name} made to fit, and what follows")


def _from_siblings(name: str, layout: Layout, every: dict[str, Layout]) -> Iterator[Proposal]:
    """``SMEM_B`` as ``SMEM_A``: parameters that share a word of their names play one role."""
    for other, sibling in every.items():
        shared = {word for word in name.split("_") if len(word) > 1} & set(other.split("_"))
        if other == name or str(sibling) == str(layout) or not shared:
            continue
        prior = 0.3 if sibling.kind != layout.kind else 1.4
        yield Proposal({name: str(sibling)}, Move.LAYOUT, prior, 2.5, f"{name} as {other}")


def _other_class(scene: Scene, name: str, layout: Layout) -> Iterator[Proposal]:
    """The class that the matrix instruction reads, where a plain one stands."""
    at, shape = scene.configuration, scene.configuration.shape(name)
    bits = at.operand_bits()
    shared = layout.kind.endswith(("SharedLayout", "SharedLinearLayout"))
    if shared and layout.kind != "NVMMASharedLayout" and scene.case.target.backend == "cuda" and bits in (8, 16, 32):
        inner = shape[1] if shape else 64
        nvmma = make(layout.root, "NVMMASharedLayout", swizzle(inner * bits // 8), bits, 2)
        yield Proposal(
            {name: str(nvmma)}, Move.LAYOUT, 0.5, 3, f"{name} in the layout that the matrix instruction reads"
        )
    if layout.kind == "NVMMASharedLayout":
        plain = make(layout.root, "SwizzledSharedLayout", 1, 1, 1, [1, 0])
        yield Proposal({name: str(plain)}, Move.LAYOUT, 2.4, 3, f"{name} without swizzling")
    memory = tensor_memory_of(at)
    if memory is not None and layout.kind == "BlockedLayout" and shape is not None:
        block = tuple(memory.get("block") or (128, 128))
        registers = tensor_memory_register(layout.root, (block[0], block[1]), shape[1], at.num_warps)
        # Which of the blocked layouts reads tensor memory shows in the failing line, if anywhere.
        prior = 0.4 if name in scene.on_lines else 1.3
        if str(registers) != str(layout):
            yield Proposal({name: str(registers)}, Move.LAYOUT, prior, 2.5, f"{name} as tensor memory is read")


Variant = tuple[float, Layout, str]
"""A layout with one field varied: when to try it, the layout, and what is varied."""


_MAJOR = re.compile(r"WGMMA type|[Tt]ranspose|[KN]-?major|unsupported wgmma")
"""Failures of an operand that lies in the wrong order in shared memory."""


def _majors(scene: Scene, every: dict[str, Layout]) -> Iterator[Proposal]:
    """Every operand's tile in the other order at once, where the failure is about the order."""
    flipped = {
        name: str(layout.with_fields(transposed=not layout.get("transposed")))
        for name, layout in every.items()
        if layout.kind == "NVMMASharedLayout"
    }
    if len(flipped) > 1 and _MAJOR.search(scene.evidence.text):
        yield Proposal(flipped, Move.LAYOUT, 0.1, 2.5 * len(flipped), "every operand's tile in the other major order")


def _shared(scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    for index, width in enumerate((128, 64, 32, 0)):
        yield 1.3 + 0.15 * index, layout.with_fields(swizzle_byte_width=width), f"{name} swizzled {width} bytes"
    flipped = layout.with_fields(transposed=not layout.get("transposed"))
    wanted = _MAJOR.search(scene.evidence.text) is not None
    yield (0.0 if wanted else 1.5), flipped, f"{name} in the other major order"


def _tensor_memory(_scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    block = layout.get("block")
    if not isinstance(block, tuple | list) or len(block) != 2:
        return
    for rows in (64, 128):
        yield 1.2, layout.with_fields(block=block_like(block, rows, block[1])), f"{name} in blocks of {rows} rows"
    for columns in (256, 128, 64, 32):
        if columns < block[1]:
            smaller = layout.with_fields(block=block_like(block, block[0], columns))
            yield 1.5, smaller, f"{name} in blocks of {columns} columns"


def _slice(_scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    if layout.get("dim") in (0, 1):
        yield 1.0, layout.with_fields(dim=1 - layout.get("dim")), f"{name} along the other axis"


def _instruction(scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    version, instruction = layout.get("version"), layout.get("instr_shape")
    if not isinstance(version, list) or not isinstance(instruction, list):
        return
    shape = scene.configuration.shape(name)
    if version[:1] == [3] and len(instruction) >= 2:
        depth = instruction[2] if len(instruction) > 2 else 16
        widest = shape[1] if shape else 256
        for index, columns in enumerate((256, 128, 64, 32, 16, 8)):
            if columns <= widest:
                why = f"{name} by instructions of {columns} columns"
                yield 1.1 + 0.15 * index, layout.with_fields(instr_shape=[16, columns, depth]), why
        for other in (8, 16, 32):
            yield 1.6, layout.with_fields(instr_shape=[16, instruction[1], other]), f"{name} of depth {other}"
    # Without wgmma the layout of mma.sync is the one to have.
    older = layout.with_fields(version=[2, 0], instr_shape=[16, 8])
    gpu = scene.case.target.gpu
    has_wgmma = gpu is not None and gpu.matrix is TensorCore.WGMMA
    yield (2.2 if has_wgmma else 1.0), older, f"{name} as mma.sync has it"


def _amd(scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    instruction = layout.get("instr_shape")
    if isinstance(instruction, list):
        # Two elements up to 3.5, three (with the depth) after; of each tile the depths of 8, 16 and 32 bits.
        shapes: tuple[list[int], ...] = ([16, 16], [32, 32])
        if len(instruction) > 2:
            shapes = ([16, 16, 16], [32, 32, 8], [16, 16, 32], [32, 32, 16], [16, 16], [32, 32])
        for index, other in enumerate(shapes):
            prior = 1.0 + 0.12 * index - (1.2 if str(other) in scene.evidence.offered else 0)
            yield prior, layout.with_fields(instr_shape=other), f"{name} by {other} instructions"
    family = TensorCore.MFMA if layout.kind == "AMDMFMALayout" else TensorCore.WMMA
    gpu = scene.case.target.gpu
    if gpu is not None and gpu.matrix is family:
        yield 0.8, layout.with_fields(version=gpu.matrix_version), f"{name} in the version that the target has"
    if isinstance(layout.get("transposed"), bool):
        yield 2.0, layout.with_fields(transposed=not layout.get("transposed")), f"{name} transposed"


def _operand(scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    """An operand's parent is the accumulator's layout, and its width packs at least 32 bits."""
    for other, sibling in scene.configuration.layouts().items():
        if sibling.kind in _ACCUMULATORS and str(sibling) != str(layout.get("parent")):
            yield 0.4, layout.with_fields(parent=sibling), f"{name} an operand of {other}"
    for width in (1, 2, 4, 8, 16):
        yield 1.1, layout.with_fields(k_width=width), f"{name} of width {width}"
    if layout.get("operand_index") in (0, 1):
        yield 1.3, layout.with_fields(operand_index=1 - layout.get("operand_index")), f"{name} on the other side"


def _blocked(_scene: Scene, name: str, layout: Layout) -> Iterator[Variant]:
    order, threads = layout.get("order"), layout.get("threads_per_warp")
    if isinstance(order, list) and len(order) == 2:
        swapped = {
            key: value[::-1]
            for key in ("size_per_thread", "threads_per_warp", "warps_per_cta", "order")
            if isinstance(value := layout.get(key), list)
        }
        yield 2.2, layout.with_fields(**swapped), f"{name} along the other axis"
    if isinstance(threads, list) and isinstance(size := layout.get("size_per_thread"), list):
        for elements in (8, 4, 2):
            if (wider := _vector(layout, elements)) is not None:
                yield 2.0, wider, f"{name} with {elements} elements a thread along the row"
        ones = layout.with_fields(size_per_thread=[1] * len(size))
        yield 2.4, ones, f"{name} with one element a thread"


def _vector(layout: Layout, elements: int) -> Layout | None:
    """The same tile with vectors of another width: the threads of a warp move from one axis to the other."""
    order, threads, size = (layout.get(key) for key in ("order", "threads_per_warp", "size_per_thread"))
    if not all(isinstance(each, list) and len(each) == 2 for each in (order, threads, size)) or order[0] not in (0, 1):
        return None
    fast = order[0]
    spans, now = threads[fast] * size[fast], size[fast]
    if elements == now or spans % elements or (threads[0] * threads[1]) % (spans // elements):
        return None
    across, down = spans // elements, threads[0] * threads[1] // (spans // elements)
    new_size, new_threads = list(size), list(threads)
    new_size[fast], new_threads[fast], new_threads[1 - fast] = elements, across, down
    return layout.with_fields(size_per_thread=new_size, threads_per_warp=new_threads)


_VARIED: Mapping[str, Callable[[Scene, str, Layout], Iterator[Variant]]] = {
    "NVMMASharedLayout": _shared,
    "NVMMADistributedLayout": _instruction,
    "TensorMemoryLayout": _tensor_memory,
    "AMDMFMALayout": _amd,
    "AMDWMMALayout": _amd,
    "BlockedLayout": _blocked,
    "DotOperandLayout": _operand,
    "SliceLayout": _slice,
}
