"""Calls that read, write, allocate or describe memory."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from triage.source.module import argument
from triage.source.roles.state import KernelState
from triage.source.roles.symbols import (
    LOADED,
    LOOP,
    NAME,
    NUMBER,
    RANGE,
    Atom,
    Sum,
    Symbolic,
    TensorBlock,
    added,
    atoms,
    broadcast,
    item_terms,
    name,
    names,
    only,
    opaque,
    single,
    text,
)
from triage.source.roles.syntax import is_language
from triage.source.roles.uses import MemoryAccess, ParameterUse


class MemoryCalls(KernelState):
    """Each method returns the value of one call."""

    def _memory(self, node: ast.Call, env: dict[str, Symbolic], store: bool) -> Symbolic:
        """``tl.load(pointer, mask)``, ``descriptor.load(offsets)`` and their like; stores too."""
        method = isinstance(node.func, ast.Attribute) and not is_language(node.func.value)
        owner = self._value(node.func.value, env) if method and isinstance(node.func, ast.Attribute) else None
        values = [self._value(value, env) for value in node.args]
        words = {word.arg: self._value(word.value, env) for word in node.keywords}
        if owner is not None:
            offsets = next((value.items for value in values if value.items is not None), None)
            return self._through(owner, offsets, values, True, store)
        if not values:
            return Symbolic(dims=None)
        pointer = values[0]
        if pointer.block is not None:
            offsets = next((value.items for value in values[1:] if value.items is not None), None)
            checked = offsets is not None or "boundary_check" in words
            return self._through(pointer, offsets, values[1:], checked, store)
        mask_at = 1 if not store else 2
        mask = words.get("mask") or (values[mask_at] if len(values) > mask_at else Symbolic())
        bounds = mask.compared | pointer.compared
        self.uses.accesses.append(MemoryAccess(pointer.terms, self._line, bounds, self._path))
        if store and len(values) > 1:
            self._stored(values[1])
        return self._loaded(pointer.terms, broadcast(pointer.dims, mask.dims))

    def _through(
        self,
        value: Symbolic,
        offsets: Sequence[Symbolic] | None,
        values: Sequence[Symbolic],
        checked: bool,
        store: bool,
    ) -> Symbolic:
        """An access through a descriptor or a block pointer."""
        block = value.block or TensorBlock(value.terms)
        positions = tuple(offset.terms for offset in offsets) if offsets is not None else block.offsets
        if positions is None:
            return self._loaded(value.terms, None)
        for axis, position in enumerate(positions):
            extent = block.block[axis] if block.block is not None and axis < len(block.block) else None
            terms = added(block.base, position)
            bounds: frozenset[tuple[Sum, Sum]] = frozenset()
            if extent is not None:
                covered = single(Atom(f"arange[{text(extent)}]", RANGE, extent))
                terms = added(terms, covered)
                if checked and axis < len(block.shape):
                    bounds = frozenset({(covered, block.shape[axis])})
                elif checked:
                    bounds = frozenset({(covered, name("the tensor"))})
            elif parameter := next((word for term in position for word in _stepped(term)), None):
                # The host made the descriptor: the kernel shows only the step along it.
                use = ParameterUse.STEP_LOOP if _turning(position) else ParameterUse.STEP_GRID
                self.uses.add([parameter], use, self._line)
                continue
            self.uses.accesses.append(MemoryAccess(terms, self._line, bounds, self._path))
        if store:
            for stored in values[-1:]:
                self._stored(stored)
        return self._loaded(block.base, block.block)

    def _stored(self, value: Symbolic) -> None:
        for extent in value.reduced:
            self.uses.add(names(extent), ParameterUse.REDUCED, self._line)

    def _loaded(self, address: Sum, dims: tuple[Sum, ...] | None) -> Symbolic:
        return Symbolic(single(replace(only(opaque("load", address)), kind=LOADED)), dims, data=True)

    def _load(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        return self._memory(node, env, store=False)

    def _store(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        return self._memory(node, env, store=True)

    def _descriptor(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        parts = [
            self._value(part, env) if (part := argument(node, index, *words)) is not None else Symbolic()
            for index, words in enumerate((("base",), ("shape",), ("strides",), ("block_shape",)))
        ]
        base, shape, strides, block = parts
        for value in (shape, strides):
            for item in value.items or ():
                self.uses.add(names(item.terms), ParameterUse.SHAPE, self._line)
        for item in block.items or ():
            self.uses.add(names(item.terms), ParameterUse.TENSOR, self._line)
        return Symbolic(
            base.terms, (), block=TensorBlock(base.terms, item_terms(shape), None, item_terms(block) or None)
        )

    def _block_pointer(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        words = (("base",), ("shape",), ("strides",), ("offsets",), ("block_shape",))
        parts = [
            self._value(part, env) if (part := argument(node, index, *word)) is not None else Symbolic()
            for index, word in enumerate(words)
        ]
        base, shape, strides, offsets, block = parts
        for value in (shape, strides):
            for item in value.items or ():
                self.uses.add(names(item.terms), ParameterUse.SHAPE, self._line)
        for item in block.items or ():
            self.uses.add(names(item.terms), ParameterUse.TENSOR, self._line)
        return Symbolic(
            base.terms,
            (),
            block=TensorBlock(base.terms, item_terms(shape), item_terms(offsets), item_terms(block) or None),
        )

    def _advance(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        pointer, step = self._arguments(node, env)[:2]
        if pointer.block is None or pointer.block.offsets is None or step.items is None:
            return pointer
        offsets = tuple(
            added(offset, item.terms) for offset, item in zip(pointer.block.offsets, step.items, strict=False)
        )
        return replace(pointer, block=replace(pointer.block, offsets=offsets))

    def _allocated(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        """Shared or tensor memory: all but the last two extents count buffers."""
        values = [self._value(value, env) for value in node.args] + [
            self._value(word.value, env) for word in node.keywords
        ]
        shape = next((value.items for value in values if value.items is not None), None) or ()
        barriers = len(shape) == 2 and shape[1].terms == NUMBER
        for index, extent in enumerate(shape):
            buffers = index < len(shape) - 2 or (barriers and index == 0)
            self.uses.add(names(extent.terms), ParameterUse.BUFFERS if buffers else ParameterUse.TENSOR, self._line)
        if layout := self._parameter(argument(node, 2, "layout"), env):
            self.uses.add([layout], ParameterUse.LAYOUT, self._line)
        return Symbolic(dims=None)


def _stepped(term: Sequence[Atom]) -> list[str]:
    """The only parameter that a product multiplies a position by."""
    words = [atom.key for atom in term if atom.kind == NAME]
    return words if len(words) == 1 and any(atom.moves for atom in term) else []


def _turning(terms: Sum) -> bool:
    return any(atom.kind == LOOP for atom in atoms(terms))
