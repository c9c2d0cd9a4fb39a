"""Rewrites of copies that the verifier rejects for their alignment: the layout of shared memory as the source's, a copy
through registers, elements as wide as a request, and requests as narrow as the alignment.

A request of several elements needs them side by side, and its address aligned to its size, in the source and in the
destination alike (PTX ISA, cp.async and vector copies). Where the two are contiguous along different dimensions, no
width satisfies that for elements of 16 bits and less.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triage.harness.worker.cute import grammar
from triage.legality import vector_copy
from triage.source.module import Edit, argument, called, calls, entries
from triage.suggest.cute.copies import Refused, refused
from triage.suggest.cute.elements import retyped
from triage.suggest.rewrites.cute.subject import CuteSubject, identifier
from triage.suggest.rewrites.recipe import Rewritten

_LAYOUTS = ("make_layout", "make_ordered_layout")
_FLOAT = "f32"


def definitions(subject: CuteSubject, node: ast.expr, wanted: tuple[str, ...], most: int = 40) -> list[ast.Call]:
    """The calls of certain functions that an expression's value comes from, through assignments and parameters."""
    waiting, seen, defining = [node], set[int](), list[ast.Call]()
    while waiting and len(seen) < most:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        if called(current) in wanted:
            assert isinstance(current, ast.Call)
            defining.append(current)
            continue
        for part in ast.walk(current):
            if isinstance(part, ast.Call) and part is not current and called(part) in wanted:
                waiting.append(part)
            elif isinstance(part, ast.Name | ast.Attribute) and (variable := subject.flow.variable(part)):
                waiting += subject.flow.sources(variable)
    return defining


def failing_copies(subject: CuteSubject) -> list[ast.Call]:
    """The copies on the failing lines: ``copy(atom, source, destination)``."""
    return [call for statement in subject.failing for call in calls(statement, "copy") if len(call.args) >= 3]


def laid_out_as_source(subject: CuteSubject) -> Iterator[Rewritten]:
    """Shared memory laid out like the source: contiguous along the same dimension."""
    copy = refused(subject.scene)
    for call in failing_copies(subject):
        allocations = definitions(subject, call.args[2], ("allocate_tensor",))
        if copy is None or not copy.destination or not allocations:
            continue
        contiguous = _contiguous(subject, call.args[1])
        if contiguous is None:
            continue
        edits = []
        for allocation in allocations:
            layout = argument(allocation, 1, "layout")
            for layout_call in definitions(subject, layout, _LAYOUTS) if layout is not None else ():
                edits += _along(subject, layout_call, contiguous)
        size = f"{copy.bits // 8} bytes"
        yield from subject.rewritten(
            edits,
            "lay out shared memory as the source",
            f"both sides are contiguous along the same dimension: requests of {size} stay, asynchronous ones too; what "
            "reads the shared tile sees the same elements, at other addresses (see to bank conflicts)",
        )


def _contiguous(subject: CuteSubject, source: ast.expr) -> int | None:
    """The dimension of stride 1 of what a copy reads: of a layout in the file, or of an argument's type."""
    for layout_call in definitions(subject, source, _LAYOUTS):
        shape = entries(argument(layout_call, 0, "shape"))
        strides = entries(argument(layout_call, 1, "stride", "order"))
        if len(shape) < 2:
            continue
        if not strides:
            return 0 if called(layout_call) == "make_layout" else None
        unit = 1 if called(layout_call) == "make_layout" else 0
        modes = [
            index for index, stride in enumerate(strides) if isinstance(stride, ast.Constant) and stride.value == unit
        ]
        if len(modes) == 1:
            return modes[0]
    tensors = dict(subject.scene.tensors)
    for name in _arguments(subject, source):
        if name in tensors:
            modes = [index for index, stride in enumerate(tensors[name].stride) if stride == 1]
            return modes[0] if len(modes) == 1 else None
    return None


def _arguments(subject: CuteSubject, node: ast.expr) -> list[str]:
    """The arguments of the case that an expression's value comes from."""
    names: list[str] = []
    waiting, seen = [node], set[int]()
    while waiting and len(seen) < 40:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        for part in ast.walk(current):
            if isinstance(part, ast.Name | ast.Attribute):
                if (name := subject.flow.origin(part)) is not None:
                    names.append(name)
                elif variable := subject.flow.variable(part):
                    waiting += subject.flow.sources(variable)
    return names


def _along(subject: CuteSubject, layout_call: ast.Call, contiguous: int) -> list[Edit]:
    """The edits that make a layout of two dimensions contiguous along one of them."""
    module = subject.module
    shape, stride = argument(layout_call, 0, "shape"), argument(layout_call, 1, "stride", "order")
    extents, strides = entries(shape), entries(stride)
    if shape is None or len(extents) != 2 or (stride is not None and len(strides) != 2):
        return []
    ordered = called(layout_call) == "make_ordered_layout"
    other = module.segment(extents[contiguous])
    wanted = ["0", "1"] if ordered else ["1", "1"]
    wanted[1 - contiguous] = "1" if ordered else other
    wanted[contiguous] = "0" if ordered else "1"
    text = f"({', '.join(wanted)})"
    if stride is None:
        return [module.after(shape, f", stride={text}")] if contiguous != 0 else []
    return [module.replace(stride, text)] if module.segment(stride).replace(" ", "") != text.replace(" ", "") else []


def staged_copy(subject: CuteSubject) -> Iterator[Rewritten]:
    """From global memory to registers in whole requests, and on to shared memory as wide as its layout allows."""
    copy, cute = refused(subject.scene), subject.alias("cutlass.cute")
    for call in failing_copies(subject):
        statement = next((above for above in subject.above(call) if isinstance(above, ast.Expr)), None)
        if copy is None or not copy.destination or cute is None or statement is None or len(call.args) != 3:
            continue
        if call.keywords:
            continue
        module = subject.module
        atom, source, destination = (module.segment(part) for part in call.args)
        name = identifier(module, "staged")
        lines = [
            f"{name} = {cute}.make_fragment_like({source})",
            f"{cute}.copy({atom}, {source}, {name})",
            f"{cute}.autovec_copy({name}, {destination})",
        ]
        edits = [module.replace(statement, f"\n{subject.indent(statement)}".join(lines))]
        for atom_call in definitions(subject, call.args[0], ("make_copy_atom",)) if copy.asynchronous else ():
            operation = argument(atom_call, 0, "op")
            if operation is not None:
                edits.append(module.replace(operation, f"{cute}.nvgpu.CopyUniversalOp()"))
        values = copy.bits // copy.width
        yield from subject.rewritten(
            edits,
            "copy through registers",
            f"for each load of {copy.bits // 8} bytes {values} stores of {copy.width // 8} bytes: the values wait in "
            f"{max(copy.bits // 32, 1)} registers a load"
            + (", and the copy is no longer asynchronous" if copy.asynchronous else ""),
        )


def single_elements(subject: CuteSubject) -> Iterator[Rewritten]:
    """An asynchronous copy of 32-bit elements one by one, with data of that type."""
    copy, cutlass = refused(subject.scene), subject.alias("cutlass")
    word = grammar.width(_FLOAT)
    if copy is None or not copy.destination or not copy.asynchronous or copy.width >= word or copy.width % 8:
        return
    names = [name for name, tensor in subject.scene.tensors if tensor.dtype == copy.dtype]
    edits = _widths(subject, copy, word, word)
    title = grammar.DTYPES[copy.dtype]
    for node in ast.walk(subject.module.tree):
        if isinstance(node, ast.Attribute) and node.attr == title:
            edits.append(subject.module.replace(node, f"{cutlass}.{grammar.DTYPES[_FLOAT]}"))
    yield from subject.rewritten(
        edits if names else [],
        f"copy {_FLOAT} element by element",
        f"requests of {word // 8} bytes, the least of an asynchronous copy: {copy.bits // copy.width} times as many, "
        f"and {word // copy.width} times the shared memory of {copy.dtype}",
        results=f"data: {', '.join(names)} holds {_FLOAT} in place of {copy.dtype}",
        caller=f"pass {', '.join(names)} as {_FLOAT}",
        changes=retyped(subject.scene, names, _FLOAT),
    )


def within_alignment(subject: CuteSubject) -> Iterator[Rewritten]:
    """Requests that are as narrow as the alignment of both sides."""
    copy = refused(subject.scene)
    if copy is None:
        return
    widths = vector_copy.widths(subject.scene.case.target, copy.asynchronous)
    fitting = [width for width in widths if copy.width <= width <= copy.aligned and width < copy.bits]
    for width in reversed(fitting):
        why = f"both sides are aligned to {copy.aligned // 8} bytes; {copy.bits // width} times as many requests"
        edits = _widths(subject, copy, width, copy.width)
        yield from subject.rewritten(edits, f"requests of {width // 8} bytes", why)


def _widths(subject: CuteSubject, copy: Refused, width: int, element: int) -> list[Edit]:
    """Other widths of the failing copy's atom, and of the values a thread copies, where they are written as numbers."""
    edits: list[Edit] = []
    per_thread = copy.bits // copy.width
    for call in failing_copies(subject):
        for atom in definitions(subject, call.args[0], ("make_copy_atom",)):
            bits = argument(atom, 99, "num_bits_per_copy")
            edits += _numbers(subject, bits, copy.bits, width) if bits is not None else []
        for tiled_copy in definitions(subject, call.args[0], ("make_tiled_copy_tv",)):
            values = argument(tiled_copy, 2, "val_layout")
            for layout in definitions(subject, values, _LAYOUTS) if values is not None else ():
                shape = argument(layout, 0, "shape")
                edits += _numbers(subject, shape, per_thread, width // element) if shape is not None else []
    return list(dict.fromkeys(edits))


def _numbers(subject: CuteSubject, node: ast.expr, before: int, after: int) -> list[Edit]:
    """The literals of a value in an expression, or in the assignments that it reads."""
    if before == after:
        return []
    expressions = [node]
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and (variable := subject.flow.variable(part)):
            expressions += subject.flow.sources(variable)
    return [
        subject.module.replace(part, str(after))
        for expression in expressions
        for part in ast.walk(expression)
        if isinstance(part, ast.Constant) and type(part.value) is int and part.value == before
    ]
