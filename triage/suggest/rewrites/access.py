"""Loads of a two-dimensional tile, and the edits that load the same tile with its axes exchanged.

The ways to load that are known: a TMA descriptor made in the kernel or passed by the host, the descriptor load of
Triton 3.0 to 3.3, either of them through a helper function, a block pointer, and a tensor of pointers (which is in
``address.py``). What several loads share is exchanged for all of them at once. None is the answer where anything else
reads or writes through what would be exchanged, or where the text does not show what it is.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from triage.source.module import MAKES_DESCRIPTOR, OLD_LOAD, Edit, argument, assignments, called, calls, entries, uses
from triage.suggest.rewrites import address
from triage.suggest.rewrites.helpers import axis_pairs, descriptor_parameter, is_plain
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.rewrites.scope import binders, is_method, read_only_in, root

_DESCRIPTOR_LOADS = ("load_tensor_descriptor", "descriptor_load")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Edits that exchange the two axes of loads. ``toggled`` are all the calls that give the exchanged tile then.

    ``argument`` is the kernel's argument whose memory is read; ``stored_transposed``: that memory must now hold the
    transpose (a descriptor reads rows that are contiguous, so its other axis cannot be); ``strides`` are arguments
    that must now be the transpose's; ``signature`` are changes of types that the host makes; ``host_block``: up to
    3.3 the host makes the descriptor, and no type shows its block.
    """

    edits: tuple[Edit, ...]
    toggled: tuple[ast.Call, ...]
    argument: str | None = None
    stored_transposed: bool = False
    strides: tuple[str, ...] = ()
    signature: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    host_block: bool = False


@dataclass(frozen=True, slots=True)
class _Access:
    """A load through a descriptor: where that is named, and the edits of the call itself."""

    call: ast.Call
    descriptor: ast.Name
    edits: tuple[Edit, ...]
    old: bool


def exchange(subject: Subject, load: ast.Call) -> Exchange | None:
    """The edits for one load and for all that share what it reads through."""
    access = _access(subject, load)
    if access is not None:
        return _through_descriptor(subject, access)
    if called(load) != "load" or is_method(subject.module, load):
        return None
    through_block_pointer = _block_pointer(subject, load)
    if through_block_pointer is None and (flipped := address.flipped(subject, load)) is not None:
        return Exchange(*flipped, root(subject, argument(load, 0, "pointer")))
    return through_block_pointer


def is_load(subject: Subject, node: ast.expr) -> bool:
    """A call that brings a tile from memory, by any of the known ways."""
    return isinstance(node, ast.Call) and (called(node) == "load" or _access(subject, node) is not None)


def holder(subject: Subject, call: ast.Call) -> ast.Name | None:
    """The name that holds the descriptor which a call loads through; None for any other call."""
    access = _access(subject, call)
    return access.descriptor if access is not None else None


def _access(subject: Subject, call: ast.Call) -> _Access | None:
    """The call as a load through a descriptor that a name holds; None for any other call."""
    name = called(call)
    if name == OLD_LOAD:
        descriptor = argument(call, 0, "desc_pointer")
        lists = [argument(call, 1, "offsets"), argument(call, 2, "shape")]
    elif name in _DESCRIPTOR_LOADS:
        descriptor, lists = argument(call, 0, "desc"), [argument(call, 1, "offsets")]
    elif name == "load" and is_method(subject.module, call) and isinstance(call.func, ast.Attribute):
        descriptor, lists = call.func.value, [argument(call, 0, "offsets")]
    else:
        return _through_helper(subject, call)
    edits = [_swapped(subject, pair) for pair in lists]
    if not isinstance(descriptor, ast.Name) or not all(edits):
        return None
    return _Access(call, descriptor, tuple(edit for pair in edits for edit in pair), name == OLD_LOAD)


def _through_helper(subject: Subject, call: ast.Call) -> _Access | None:
    """A helper that does nothing but load: the arguments that are its offsets and extents, exchanged in the call."""
    definitions = subject.definitions(called(call))
    parameter = descriptor_parameter(definitions)
    if parameter is None or not isinstance(descriptor := argument(call, parameter.position, parameter.name), ast.Name):
        return None
    edits = _swapped_arguments(subject, call)
    return _Access(call, descriptor, edits, parameter.old) if edits else None


def _through_descriptor(subject: Subject, access: _Access) -> Exchange | None:
    """Every load through the same descriptor, and the descriptor wherever it was made."""
    kernel, name = subject.kernel, access.descriptor.id
    every = [_access(subject, node) for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    accesses = [other for other in every if other is not None and other.descriptor.id == name]
    reached = {id(other.descriptor) for other in accesses}
    if any(id(use) not in reached for use in uses(kernel, name)):
        return None  # A store, or something unknown, goes through the same descriptor.
    edits = [edit for other in accesses for edit in other.edits]
    toggled = tuple(other.call for other in accesses)
    values = binders(kernel, name)
    if not values:
        return _created_by_host(subject, name, edits, toggled, access.old)
    if len(values) != len(assignments(kernel, name)):
        return None
    pointers: set[str] = set()
    strides: set[str] = set()
    for value in values:
        creation = _creation(subject, value)
        if creation is None:
            return None
        edits += creation.edits
        pointers.add(creation.pointer)
        strides |= creation.strides
    if len(pointers) != 1 or not all(_serves(subject, argument, values) for argument in pointers | strides):
        return None
    return Exchange(tuple(edits), toggled, pointers.pop(), True, tuple(sorted(strides)), host_block=access.old)


def _created_by_host(
    subject: Subject, name: str, edits: list[Edit], toggled: tuple[ast.Call, ...], old: bool
) -> Exchange | None:
    """The host created it. Its block in the signature is exchanged, ``tensordesc<fp32[32, 64]>`` and back; up to 3.3 it
    is a bare pointer, and the block is known to the host alone."""
    type_ = str(subject.scene.case.signature.get(name, ""))
    if old and type_.startswith("*"):
        return Exchange(tuple(edits), toggled, name, True, host_block=True)
    if not type_.startswith("tensordesc<"):
        return None
    head, _, rest = type_.partition("[")
    block, closing, tail = rest.partition("]")
    extents = [extent.strip() for extent in block.split(",")]
    # A layout behind the block belongs to Gluon, where it would have to change as well.
    if len(extents) != 2 or not closing or tail != ">":
        return None
    signature = {name: f"{head}[{extents[1]}, {extents[0]}]{tail}"}
    return Exchange(tuple(edits), toggled, name, True, signature=signature)


@dataclass(frozen=True, slots=True)
class _Creation:
    edits: tuple[Edit, ...]
    pointer: str
    strides: frozenset[str] = frozenset()


def _creation(subject: Subject, call: ast.expr) -> _Creation | None:
    """The call that makes a descriptor: shape and block exchanged, and rows contiguous along the new axis. It must
    start at the argument itself: where it starts at an offset, the text does not show to which axis of the memory the
    offset belongs."""
    if not isinstance(call, ast.Call):
        return None
    name = called(call)
    if name not in MAKES_DESCRIPTOR and not is_plain(subject.definitions(name)):
        return None
    base = argument(call, 0, "base")
    parameters = subject.scene.case.signature
    if not isinstance(base, ast.Name) or not str(parameters.get(base.id, "")).startswith("*"):
        return None
    if name not in MAKES_DESCRIPTOR:
        edits = _swapped_arguments(subject, call)
        return _Creation(edits, base.id) if edits else None
    shape, strides = argument(call, 1, "shape"), argument(call, 2, "strides")
    swapped = [_swapped(subject, shape), _swapped(subject, argument(call, 3, "block_shape"))]
    match entries(shape), entries(strides):
        case [rows, columns], [stride, ast.Constant(value=1)] if all(swapped):
            edits = tuple(edit for pair in swapped for edit in pair)
            if ast.dump(stride) == ast.dump(columns):
                # [K, N] with rows of N elements becomes [N, K] with rows of K.
                return _Creation((*edits, subject.module.replace(stride, subject.module.segment(rows))), base.id)
            if isinstance(stride, ast.Name) and stride.id in parameters:
                # A stride that the caller passes stays: it is the transposed tensor's now.
                return _Creation(edits, base.id, frozenset({stride.id}))
    return None


def _serves(subject: Subject, name: str, values: list[ast.expr]) -> bool:
    """An argument is read nowhere else than in these values, so that it may mean something else from now on."""
    return not binders(subject.kernel, name) and read_only_in(values, subject.kernel, name)


def _block_pointer(subject: Subject, load: ast.Call) -> Exchange | None:
    """``tl.make_block_ptr``: everything that has two entries is exchanged, and the memory stays as it is."""
    kernel, pointer = subject.kernel, argument(load, 0, "pointer")
    if not isinstance(pointer, ast.Name):
        return None
    bindings = assignments(kernel, pointer.id)
    if not bindings or len(bindings) != len(binders(kernel, pointer.id)):
        return None
    edits: list[Edit] = []
    start: str | None = None
    for statement in bindings:
        call = statement.value
        if not isinstance(call, ast.Call):
            return None
        if called(call) == "make_block_ptr":
            names = ("shape", "strides", "offsets", "block_shape", "order")
            pairs = [_swapped(subject, argument(call, index, name)) for index, name in enumerate(names, start=1)]
            start = root(subject, argument(call, 0, "base"))
        elif called(call) == "advance":
            moved = argument(call, 0, "base")
            if not isinstance(moved, ast.Name) or moved.id != pointer.id:
                return None
            pairs = [_swapped(subject, argument(call, 1, "offsets"))]
        else:
            return None
        if not all(pairs):
            return None
        edits += (edit for pair in pairs for edit in pair)
    toggled: list[ast.Call] = []
    for node in calls(kernel, "load"):
        first = argument(node, 0, "pointer")
        if isinstance(first, ast.Name) and first.id == pointer.id and not is_method(subject.module, node):
            checked = _checked_axes(subject, argument(node, 3, "boundary_check"))
            if checked is None:
                return None
            edits += checked
            toggled.append(node)
    if not read_only_in([*toggled, *bindings], kernel, pointer.id):
        return None  # It is stored through, or goes on under another name.
    return Exchange(tuple(edits), tuple(toggled), start)


def _checked_axes(subject: Subject, checked: ast.expr | None) -> list[Edit] | None:
    """``boundary_check=(0,)`` as ``(1,)``; None where its axes are not written out."""
    if checked is None:
        return []
    if not isinstance(checked, ast.Tuple | ast.List):
        return None
    edits: list[Edit] = []
    for axis in checked.elts:
        if not isinstance(axis, ast.Constant) or axis.value not in (0, 1):
            return None
        edits.append(subject.module.replace(axis, "01"[axis.value == 0]))
    return edits


def _swapped_arguments(subject: Subject, call: ast.Call) -> tuple[Edit, ...]:
    """A helper's arguments that stand for the two axes in each other's place; nothing where one is left out."""
    edits: list[Edit] = []
    for pair in axis_pairs(subject.definitions(called(call))):
        first, second = (argument(call, parameter.position, parameter.name) for parameter in pair)
        if first is None or second is None:
            return ()
        edits += subject.module.swap(first, second)
    return tuple(edits)


def _swapped(subject: Subject, pair: ast.expr | None) -> tuple[Edit, ...]:
    """Both entries of ``[a, b]`` in each other's place; nothing for what is not a pair."""
    match entries(pair):
        case [first, second]:
            return subject.module.swap(first, second)
    return ()
