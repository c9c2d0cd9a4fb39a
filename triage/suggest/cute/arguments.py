"""What the caller states of an argument: its kind, address space, alignment, and the divisors of dynamic extents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from triage.harness.worker.cute import grammar
from triage.harness.worker.cute.grammar import Dynamic, Extent, Tensor
from triage.suggest.cute.scene import CuteScene
from triage.suggest.cute.suspicion import suspicion
from triage.suggest.proposal import Move, Proposal

_VECTOR_BYTES = 16
"""The widest copy of one thread up to 9.0, and what torch and cudaMalloc align to at least."""
_ALIGNMENT = re.compile(r"align|divisib|multiple of|vectoriz|16 bytes|128 bits|stride", re.IGNORECASE)
_SPACE = re.compile(r"generic|address space|memspace|gmem|global", re.IGNORECASE)
_DYNAMIC = re.compile(r"dynamic|\?|static|divisib", re.IGNORECASE)


def arguments(scene: CuteScene) -> Iterator[Proposal]:
    """All changes of what is stated of arguments."""
    yield from _kinds(scene)
    for name, tensor in scene.tensors:
        yield from _spaces(scene, name, tensor)
        yield from _alignments(scene, name, tensor)
        yield from _divisors(scene, name, tensor)
        yield from _strides(scene, name, tensor)
    yield from _together(scene)


def _kinds(scene: CuteScene) -> Iterator[Proposal]:
    """An argument of another kind than its annotation says."""
    titles = {title: name for name, title in grammar.DTYPES.items()}
    for name, type_ in scene.types.items():
        annotation = scene.flow.annotation(name).rpartition(".")[2]
        dtype = titles.get(annotation)
        if dtype is not None and not isinstance(type_, grammar.Scalar):
            why = f"{name} as {dtype}: it is annotated {annotation}"
            yield Proposal({name: dtype}, Move.DATA, -0.6, 2, why)
        elif dtype is not None and str(type_) != dtype:
            yield Proposal({name: dtype}, Move.DATA, 1.2, 2, f"{name} as {dtype}: it is annotated {annotation}")
        elif annotation == "Pointer" and isinstance(type_, Tensor):
            pointer = grammar.Pointer(type_.dtype, type_.space, type_.align)
            yield Proposal({name: str(pointer)}, Move.DATA, -0.4, 2, f"{name} as a pointer, as it is annotated")


def _spaces(scene: CuteScene, name: str, tensor: Tensor) -> Iterator[Proposal]:
    if tensor.space != grammar.SPACES[0]:
        prior = 1.0 + suspicion(scene, name) - (1.4 if _SPACE.search(scene.text) else 0.0)
        why = f"{name} in global memory: a tensor of the GPU, where one of the host is of generic address space"
        yield Proposal({name: str(replace(tensor, space=grammar.SPACES[0]))}, Move.DATA, prior, 1.5, why)


def _alignments(scene: CuteScene, name: str, tensor: Tensor) -> Iterator[Proposal]:
    now = tensor.align or max(grammar.width(tensor.dtype) // 8, 1)
    for index, align in enumerate(align for align in (_VECTOR_BYTES, 32, 128) if align > now):
        prior = 1.2 + suspicion(scene, name) - (1.2 if _ALIGNMENT.search(scene.text) else 0.0)
        prior += 1.0 * index + (1.2 if now >= _VECTOR_BYTES else 0.0)
        why = f"{name} aligned to {align} bytes (assumed_align={align}), as allocations are"
        yield Proposal({name: str(replace(tensor, align=align))}, Move.DATA, prior, 1.2, why)


def divided(tensor: Tensor) -> Tensor:
    """A tensor whose dynamic extents and strides are multiples of a vector of 16 bytes, but for the rows."""
    divisor = max(8 * _VECTOR_BYTES // grammar.width(tensor.dtype), 1)

    def known(extent: Extent) -> Extent:
        if isinstance(extent, tuple):
            return tuple(map(known, extent))
        return Dynamic(divisor) if isinstance(extent, Dynamic) and extent.divisor % divisor else extent

    return replace(tensor, shape=tuple(map(known, tensor.shape)), stride=tuple(map(known, tensor.stride)))


def _divisors(scene: CuteScene, name: str, tensor: Tensor) -> Iterator[Proposal]:
    for index, other in enumerate((replace(divided(tensor), shape=tensor.shape), divided(tensor))):
        if other != tensor:
            prior = 1.0 + 0.1 * index + suspicion(scene, name) - (0.9 if _ALIGNMENT.search(scene.text) else 0.0)
            yield Proposal({name: str(other)}, Move.DATA, prior, 1.5, f"{name} with extents that 16 bytes divide")


def _strides(scene: CuteScene, name: str, tensor: Tensor) -> Iterator[Proposal]:
    """Rows padded to a multiple of 16 bytes."""
    unit = max(8 * _VECTOR_BYTES // grammar.width(tensor.dtype), 1)
    padded = tuple(
        -(-stride // unit) * unit if isinstance(stride, int) and stride > 1 else stride for stride in tensor.stride
    )
    if padded != tensor.stride:
        prior = 1.3 + suspicion(scene, name) - (0.9 if _ALIGNMENT.search(scene.text) else 0.0)
        why = f"rows of {name} padded to a multiple of 16 bytes"
        yield Proposal({name: str(replace(tensor, stride=padded))}, Move.DATA, prior, 3, why)


def _together(scene: CuteScene) -> Iterator[Proposal]:
    """Everything known of all tensors at once: aligned, divided, in global memory."""
    known = {
        name: str(replace(divided(tensor), align=max(tensor.align or 0, _VECTOR_BYTES), space=grammar.SPACES[0]))
        for name, tensor in scene.tensors
    }
    changes = {name: type_ for name, type_ in known.items() if type_ != str(scene.types[name])}
    if changes:
        prior = 1.4 - (0.9 if _ALIGNMENT.search(scene.text) else 0.0) - (0.2 if _DYNAMIC.search(scene.text) else 0.0)
        why = f"{', '.join(changes)} in global memory, aligned to 16 bytes, with extents that 16 bytes divide"
        yield Proposal(changes, Move.DATA, prior, 2.5, why)
