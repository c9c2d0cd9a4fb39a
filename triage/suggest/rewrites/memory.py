"""Other ways to the same memory: Gluon's AMD buffer operations as plain loads and stores, and a descriptor of a
column-major matrix as one of the memory as it lies."""

import ast
from collections.abc import Iterator

from triage.source.module import MAKES_DESCRIPTOR, Edit, argument, assignments, called, calls, entries, uses
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import behind, functions, language, within

_BUFFER_PARAMETERS = {
    "buffer_load": ("ptr", "offsets", "mask", "other", "cache"),
    "buffer_store": ("stored_value", "ptr", "offsets", "mask", "cache"),
}
"""Their arguments, in order (triton/experimental/gluon/language/amd/cdna3)."""


def buffer_as_pointer(subject: Subject) -> Iterator[Rewritten]:
    """``buffer_load(p, o)`` as ``gl.load(p + o)``, and the store likewise: those every back-end has."""
    module = subject.module
    gl = language(module)
    if gl is None or subject.scene.case.target.backend == "hip":
        return
    edits: list[Edit] = []
    for node in calls(subject.kernel, *_BUFFER_PARAMETERS):
        parameters = _BUFFER_PARAMETERS[called(node)]
        passed = {name: argument(node, index, name) for index, name in enumerate(parameters)}
        pointer, offsets = passed.pop("ptr"), passed.pop("offsets")
        unknown = {word.arg for word in node.keywords} - set(parameters)
        if pointer is None or offsets is None or unknown:
            return
        arguments = [f"{module.operand(pointer)} + {module.operand(offsets)}"]
        if (value := passed.pop("stored_value", None)) is not None:
            arguments.append(module.segment(value))
        passed["cache_modifier"] = passed.pop("cache")
        arguments += [f"{name}={module.segment(value)}" for name, value in passed.items() if value is not None]
        edits.append(module.replace(node, f"{gl}.{called(node).removeprefix('buffer_')}({', '.join(arguments)})"))
    yield from subject.rewritten(
        edits,
        f"{gl}.load and {gl}.store in place of AMD's buffer operations",
        "buffer operations are of the AMD dialect, which this target does not register",
    )


def descriptor_as_it_lies(subject: Subject) -> Iterator[Rewritten]:
    """A descriptor with strides [1, s] described as [s, 1], its blocks transposed where they are read and written.

    TMA takes rows that are contiguous (CUDA driver API, cuTensorMapEncodeTiled: the innermost stride is implied).
    """
    for function in functions(subject):
        edits: list[Edit] = []
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if subject.failing(node):
                    more = _described(subject, function, name, call)
                    if more is None:
                        return
                    edits += more
        yield from subject.rewritten(
            edits,
            "describe the memory as it lies, rows contiguous, and transpose the blocks",
            "the last stride of a descriptor is 1, and here it is the first one",
        )


def _described(subject: Subject, function: ast.FunctionDef, name: str, call: ast.Call) -> list[Edit] | None:
    """The edits for one descriptor; None where it is not column-major, or is used for more than loads and stores."""
    module = subject.module
    if called(call) not in MAKES_DESCRIPTOR:
        return None
    pairs = [entries(argument(call, index, word)) for index, word in ((1, "shape"), (2, "strides"), (3, "block_shape"))]
    if any(len(pair) != 2 for pair in pairs):
        return None
    edits = [edit for pair in pairs for edit in module.swap(*pair)]
    first = pairs[1][0]
    if not isinstance(first, ast.Constant) or first.value != 1 or len(assignments(function, name)) != 1:
        return None
    reached: set[int] = set()
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner) as use, attr="load" | "store")) if owner == name:
                offsets = entries(argument(node, 0, "offsets"))
                if len(offsets) != 2:
                    return None
                edits += module.swap(*offsets)
                reached.add(id(use))
                if called(node) == "load":
                    edits.append(module.after(node, ".T"))
                elif (value := argument(node, 1, "value")) is not None:
                    edits += behind(module, value, ".T")
    unknown = any(id(use) not in reached and not within(use, call) for use in uses(function, name))
    return None if unknown else edits
