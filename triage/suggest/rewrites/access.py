"""Loads of a two-dimensional tile, and the edits that load the same tile with its axes exchanged.

Four ways to load are known: a TMA descriptor made in the kernel or passed by the host, the descriptor load of Triton
3.0 to 3.3, a block pointer, and a tensor of pointers; each also through a helper function that takes the offsets and
extents as arguments. Where a tile is loaded through anything else, None is the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from triage.suggest.rewrites.module import Edit, argument, assignments, called, uses
from triage.suggest.rewrites.recipe import Subject

_MAKES_DESCRIPTOR = ("make_tensor_descriptor", "_experimental_make_tensor_descriptor")
_OLD_LOAD = "_experimental_descriptor_load"
_DESCRIPTOR_LOADS = ("load_tensor_descriptor", "descriptor_load")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Edits that exchange the two axes of a load. ``argument`` is the kernel's argument whose memory is read;
    ``stored_transposed``: that memory must now hold the transpose (a descriptor reads rows that are contiguous, so
    its other axis cannot be); ``signature`` are changes of types that the host makes."""

    edits: tuple[Edit, ...]
    argument: str | None = None
    stored_transposed: bool = False
    signature: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def exchange(subject: Subject, load: ast.Call) -> Exchange | None:
    """The edits for one load, or None where it is of no known kind or its address is shared with another use."""
    name = called(load)
    if name == _OLD_LOAD:
        return _old_descriptor(subject, load)
    if name in _DESCRIPTOR_LOADS:
        return _descriptor(subject, argument(load, 0, "desc"), argument(load, 1, "offsets"), load)
    if name == "load" and isinstance(load.func, ast.Attribute):
        receiver = load.func.value
        is_module = isinstance(receiver, ast.Name) and receiver.id in ("tl", "language", "gl", "ttgl")
        if not is_module:
            return _descriptor(subject, receiver, argument(load, 0, "offsets"), load)
    if name == "load":
        return _block_pointer(subject, load) or _pointers(subject, load)
    return _helper(subject, load)


def is_load(subject: Subject, node: ast.expr) -> bool:
    """A call that brings a tile from memory, by any of the known ways."""
    if not isinstance(node, ast.Call):
        return False
    name = called(node)
    return name in ("load", _OLD_LOAD, *_DESCRIPTOR_LOADS) or bool(_pairs(subject, name))


def _old_descriptor(subject: Subject, load: ast.Call) -> Exchange | None:
    edits = [*_swapped(subject, argument(load, 1, "offsets")), *_swapped(subject, argument(load, 2, "shape"))]
    pointer = _root(subject, argument(load, 0, "desc_pointer"))
    return Exchange(tuple(edits), pointer, True) if len(edits) == 4 else None


def _descriptor(
    subject: Subject, descriptor: ast.expr | None, offsets: ast.expr | None, load: ast.Call
) -> Exchange | None:
    """``descriptor.load([row, column])``: the offsets, and the descriptor wherever it was made."""
    edits = list(_swapped(subject, offsets))
    if not edits or not isinstance(descriptor, ast.Name):
        return None
    name = descriptor.id
    if any(not _within(use, load) for use in uses(subject.kernel, name)):
        return None  # Something else reads or writes through the same descriptor.
    made = assignments(subject.kernel, name)
    if not made:
        return _host_descriptor(subject, name, edits)
    pointers = set()
    for statement in made:
        if not isinstance(statement.value, ast.Call):
            return None
        more = _made(subject, statement.value)
        if not more:
            return None
        edits += more
        pointers.add(_root(subject, argument(statement.value, 0, "base")))
    return Exchange(tuple(edits), pointers.pop() if len(pointers) == 1 else None, True)


def _host_descriptor(subject: Subject, name: str, edits: list[Edit]) -> Exchange | None:
    """The host made it: its block in the signature is exchanged, ``tensordesc<fp32[32, 64]>`` and back."""
    type_ = str(subject.scene.case.signature.get(name, ""))
    if not type_.startswith("tensordesc<"):
        return None
    head, _, rest = type_.partition("[")
    block, closing, tail = rest.partition("]")
    extents = [extent.strip() for extent in block.split(",")]
    # A layout behind the block belongs to Gluon, where it would have to change as well.
    if len(extents) != 2 or not closing or tail != ">":
        return None
    return Exchange(tuple(edits), name, True, {name: f"{head}[{extents[1]}, {extents[0]}]{tail}"})


def _made(subject: Subject, call: ast.Call) -> list[Edit]:
    """Edits of the call that makes a descriptor: shape and block exchanged, and rows contiguous along the new axis."""
    if called(call) not in _MAKES_DESCRIPTOR:
        return _helper_edits(subject, call)
    shape, strides = argument(call, 1, "shape"), argument(call, 2, "strides")
    edits = [*_swapped(subject, shape), *_swapped(subject, argument(call, 3, "block_shape"))]
    match shape, strides:
        case (
            (ast.List(elts=[rows, columns]) | ast.Tuple(elts=[rows, columns])),
            (ast.List(elts=[stride, ast.Constant(value=1)]) | ast.Tuple(elts=[stride, ast.Constant(value=1)])),
        ):
            # [K, N] with rows of N elements becomes [N, K] with rows of K. A stride that the caller passes stays:
            # it is the transposed tensor's now.
            if ast.dump(stride) == ast.dump(columns):
                edits.append(subject.module.replace(stride, subject.module.segment(rows)))
            return edits if len(edits) >= 4 else []
    return []


def _block_pointer(subject: Subject, load: ast.Call) -> Exchange | None:
    """``tl.make_block_ptr``: everything that has two entries is exchanged, and the memory stays as it is."""
    pointer = argument(load, 0, "pointer")
    if not isinstance(pointer, ast.Name):
        return None
    edits: list[Edit] = []
    root: str | None = None
    for statement in assignments(subject.kernel, pointer.id):
        call = statement.value
        if not isinstance(call, ast.Call):
            return None
        if called(call) == "make_block_ptr":
            for place, name in enumerate(("shape", "strides", "offsets", "block_shape", "order"), start=1):
                edits += _swapped(subject, argument(call, place, name))
            root = _root(subject, argument(call, 0, "base"))
        elif called(call) == "advance":
            edits += _swapped(subject, argument(call, 1, "offsets"))
        else:
            return None
    read = uses(subject.kernel, pointer.id)
    if not edits or any(not _in_statement_of(subject, use, pointer.id, load) for use in read):
        return None
    checked = argument(load, 3, "boundary_check")
    if isinstance(checked, ast.Tuple | ast.List):
        for axis in checked.elts:
            if isinstance(axis, ast.Constant) and axis.value in (0, 1):
                edits.append(subject.module.replace(axis, str(1 - axis.value)))
    return Exchange(tuple(edits), root)


def _in_statement_of(subject: Subject, use: ast.Name, name: str, load: ast.Call) -> bool:
    """The use is in the load itself, or where the pointer is advanced."""
    return _within(use, load) or any(_within(use, statement) for statement in assignments(subject.kernel, name))


def _pointers(subject: Subject, load: ast.Call) -> Exchange | None:
    """A tensor of pointers, ``p + i[:, None] * s + j[None, :]``: what was a column becomes a row, and back.

    Every name that the address and the mask are built from, and that has two dimensions, must serve this load alone.
    """
    kernel = subject.kernel
    waiting: list[ast.AST] = [load]
    names: set[str] = set()
    axes: list[ast.Subscript] = []
    while waiting:
        node = waiting.pop()
        for child in ast.walk(node):
            if isinstance(child, ast.Subscript) and _axis(child) is not None:
                axes.append(child)
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id not in names:
                made = assignments(kernel, child.id)
                if any(_two_dimensional(subject, statement.value) for statement in made):
                    names.add(child.id)
                    waiting += made
    if not axes:
        return None
    inside = [load, *(statement for name in names for statement in assignments(kernel, name))]
    for name in names:
        if any(not any(_within(use, place) for place in inside) for use in uses(kernel, name)):
            return None
    edits = tuple(subject.module.replace(axis.slice, _axis(axis) or "") for axis in axes)
    pointer = _root(subject, argument(load, 0, "pointer"))
    return Exchange(edits, pointer)


def _two_dimensional(subject: Subject, value: ast.expr | None, depth: int = 0) -> bool:
    """Built from ``[:, None]`` or ``[None, :]``, here or in what it names."""
    if value is None or depth > 8:
        return False
    for child in ast.walk(value):
        if isinstance(child, ast.Subscript) and _axis(child) is not None:
            return True
        if isinstance(child, ast.Name) and not _self_reference(subject, child, value):
            made = assignments(subject.kernel, child.id)
            if any(_two_dimensional(subject, statement.value, depth + 1) for statement in made[:1]):
                return True
    return False


def _self_reference(subject: Subject, name: ast.Name, value: ast.expr) -> bool:
    return any(statement.value is value for statement in assignments(subject.kernel, name.id))


def _axis(node: ast.Subscript) -> str | None:
    """``[:, None]`` for ``[None, :]`` and the reverse; None for any other index."""
    match node.slice:
        case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), ast.Constant(value=None)]):
            return "None, :"
        case ast.Tuple(elts=[ast.Constant(value=None), ast.Slice(lower=None, upper=None, step=None)]):
            return ":, None"
    return None


def _helper(subject: Subject, call: ast.Call) -> Exchange | None:
    """A helper that loads: the arguments that become its offsets and extents are exchanged where it is called, and
    those of the helper that made its descriptor too."""
    edits = _helper_edits(subject, call)
    if not edits:
        return None
    root: str | None = None
    for value in call.args:
        if not isinstance(value, ast.Name):
            continue
        made = assignments(subject.kernel, value.id)
        calls = [statement.value for statement in made if isinstance(statement.value, ast.Call)]
        more = [edit for one in calls for edit in _made(subject, one)]
        if more:
            if any(not _within(use, call) for use in uses(subject.kernel, value.id)):
                return None
            edits += more
            root = _root(subject, argument(calls[0], 0, "base"))
    return Exchange(tuple(edits), root, True)


def _helper_edits(subject: Subject, call: ast.Call) -> list[Edit]:
    """Exchange the arguments of a helper that stand for the two axes."""
    edits: list[Edit] = []
    for (one_place, one), (other_place, other) in _pairs(subject, called(call)):
        first, second = argument(call, one_place, one), argument(call, other_place, other)
        if first is None or second is None:
            return []
        edits += subject.module.swap(first, second)
    return edits


_Parameter = tuple[int, str]


def _pairs(subject: Subject, name: str) -> list[tuple[_Parameter, _Parameter]]:
    """Pairs of a helper's parameters that are its two offsets, extents or sizes, over all its definitions."""
    found: dict[frozenset[str], tuple[_Parameter, _Parameter]] = {}
    for function in subject.definitions(name) if name else ():
        parameters = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
        for pair in _axis_lists(function):
            if all(each in parameters for each in pair):
                one, other = sorted((parameters.index(each), each) for each in pair)
                found[frozenset(pair)] = (one, other)
    return list(found.values())


def _axis_lists(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if called(node) in _MAKES_DESCRIPTOR:
            lists = [argument(node, 1, "shape"), argument(node, 3, "block_shape")]
        elif called(node) == _OLD_LOAD:
            lists = [argument(node, 1, "offsets"), argument(node, 2, "shape")]
        elif called(node) == "load":
            lists = [argument(node, 0, "offsets")]
        else:
            continue
        for each in lists:
            match each:
                case (
                    ast.List(elts=[ast.Name(id=one), ast.Name(id=other)])
                    | ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=other)])
                ):
                    yield one, other


def _swapped(subject: Subject, pair: ast.expr | None) -> tuple[Edit, ...]:
    """Both entries of ``[a, b]`` in each other's place; nothing for what is no pair."""
    match pair:
        case ast.List(elts=[one, other]) | ast.Tuple(elts=[one, other]):
            return subject.module.swap(one, other)
    return ()


def _root(subject: Subject, value: ast.expr | None) -> str | None:
    """The kernel's pointer argument that an address starts from."""
    parameters = {parameter.arg for parameter in (*subject.kernel.args.posonlyargs, *subject.kernel.args.args)}
    seen: set[str] = set()
    waiting: list[ast.AST] = [value] if value is not None else []
    while waiting:
        for child in ast.walk(waiting.pop()):
            if not isinstance(child, ast.Name) or child.id in seen:
                continue
            seen.add(child.id)
            type_ = str(subject.scene.case.signature.get(child.id, ""))
            if child.id in parameters and type_.startswith(("*", "tensordesc<")):
                return child.id
            waiting += [statement.value for statement in assignments(subject.kernel, child.id) if statement.value]
    return None


def _within(node: ast.expr, outer: ast.expr | ast.stmt) -> bool:
    return any(child is node for child in ast.walk(outer))
