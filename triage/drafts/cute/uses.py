"""How a host function uses its parameters: it is evaluated with symbols for arguments, and its kernels too."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from triage.drafts.cute import guesses
from triage.drafts.cute.describe import annotation_name
from triage.drafts.cute.guesses import SourceFacts
from triage.drafts.cute.hosts import CuteHost
from triage.drafts.cute.symbols import Symbol
from triage.drafts.cute.values import ClassValue, FunctionValue, ObjectValue
from triage.drafts.model import Basis, Value
from triage.drafts.names import usual_size
from triage.model.gpus import TensorCore

_PYTHON: dict[str, Callable[[str], Any]] = {
    "int": usual_size, "float": lambda name: 1.0, "bool": lambda name: False
}  # fmt: skip
"""Values of parameters that Python's own types annotate."""
_LEAST_EXTENT = 8
"""Of a tile; smaller numbers are coordinates, numbers of warps and modes."""
_MATRIX = re.compile(r"^Mma\w*Op$|^make_trivial_tiled_mma$|^make_tiled_mma$")
_TENSOR_MEMBERS = frozenset({"element_type", "iterator", "layout", "shape", "stride", "memspace", "leading_dim"})
_POINTER_MEMBERS = frozenset({"toint", "align", "value_type"})


def uses(host: CuteHost) -> dict[str, list[Value]]:
    """Values of the parameters of a host function, and of the constructor of a class, by how they are used."""
    program, value = host.program, host.value
    constructed: list[Symbol] = []
    instances: list[ObjectValue] = []
    program.steps, program.launched_kernels, program.inside_device = 0, 0, True
    try:
        if isinstance(value, ClassValue):
            constructor = value.find("__init__")
            own = constructor.parameters[1:] if isinstance(constructor, FunctionValue) else []
            constructed = [Symbol(argument.arg) for argument in own]
            words = {symbol.name: symbol for symbol in constructed}
            instance = program.alone(lambda: program.construct(value, (), words))
            instances = [instance if isinstance(instance, ObjectValue) else ObjectValue(value)]
        arguments = host.call.parameters[len(instances) :]
        symbols = [Symbol(argument.arg) for argument in arguments]
        named = {symbol.name: symbol for symbol in symbols}
        program.alone(lambda: program.run_function(host.call, instances, named))
        host.launched = host.launched or program.launched_kernels > 0
    finally:
        program.inside_device = False
    tree = value.module.tree
    source = SourceFacts(
        matrix=any(_names_matrix(node) for node in ast.walk(tree)),
        blackwell=program.target.gpu is not None and program.target.gpu.matrix is TensorCore.TCGEN05,
        shapes=tuple(_literal_shapes(tree)),
    )
    result = {symbol.name: guesses.constant(symbol, source) for symbol in constructed}
    for argument, symbol in zip(arguments, symbols, strict=True):
        result.setdefault(argument.arg, _argument(argument, symbol, source))
    return result


def _literal_shapes(tree: ast.Module) -> list[tuple[int, ...]]:
    """Tuples of numbers that are as large as extents of tiles, the largest first."""
    shapes: dict[tuple[int, ...], None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple):
            numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if len(numbers) == len(node.elts) and all(type(each) is int and each >= _LEAST_EXTENT for each in numbers):
                shapes[tuple(each for each in numbers if isinstance(each, int))] = None
    return sorted(shapes, key=math.prod, reverse=True)


def _names_matrix(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return _MATRIX.search(name) is not None
    return False


def _argument(argument: ast.arg, symbol: Symbol, source: SourceFacts) -> list[Value]:
    """Values of an argument of a launch."""
    kind, facts = annotation_name(argument.annotation), symbol.facts
    if kind == "Constexpr":
        return guesses.constant(symbol, source)
    dtypes = guesses.element_types(facts, source.matrix)
    if kind == "Tensor" or (not kind and facts.members & _TENSOR_MEMBERS):
        return guesses.tensor(facts, dtypes, source)
    if kind == "Pointer" or (not kind and facts.members & _POINTER_MEMBERS):
        return [Value(f"ptr<{dtype}, gmem, align=16>", Basis.USE, "a pointer", exact=False) for dtype in dtypes]
    if kind in ("Numeric", "Float"):
        return [Value("f32", Basis.ANNOTATION, f"annotation in line {argument.lineno}", exact=False)]
    if kind in ("Integer", "Int"):
        return [Value("i32", Basis.ANNOTATION, f"annotation in line {argument.lineno}", exact=False)]
    if kind in _PYTHON:
        return [Value(_PYTHON[kind](symbol.name), Basis.NAME, "usual value", exact=False, constant=True)]
    if kind:
        return []
    if any(function == "launch" and at == "stream" for function, at, _ in facts.passed):
        return [Value("stream", Basis.USE, "stream of the launch")]
    if argument.arg.endswith("stream"):
        return [Value("stream", Basis.NAME, "named as a stream")]
    if any(isinstance(value, str) for value in (*facts.compared, *facts.keys)):
        return guesses.constant(symbol, source)
    if facts.indices or facts.stored:
        return guesses.tensor(facts, dtypes, source)
    if facts.counted:
        return [Value("i32", Basis.USE, "an operand", exact=False)]
    return guesses.tensor(facts, dtypes, source) if facts.passed else []
