"""Operators and functions that make the wrong type: a float where an integer is needed, a number where a boolean is,
floating-point operations on integers and the reverse."""

import ast
import re
from collections.abc import Iterator

from triage.source.dtypes import language_dtype
from triage.source.module import Edit, argument, assignments, called, calls, uses
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import behind, element, failing_calls, functions, language, root

_MEMORY = ("load", "store", "atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or",
           "atomic_xchg", "atomic_xor")  # fmt: skip
_LOOPS = ("range", "static_range")
_BITWISE = ("atomic_and", "atomic_or", "atomic_xor")
_INTEGER_TENSOR = re.compile(r"got '(?:tensor<(?:\d+x)*)?i\d+")
_BITS = {"fp16": "int16", "bf16": "int16", "fp32": "int32", "fp64": "int64"}


def floor_division(subject: Subject) -> Iterator[Rewritten]:
    """``/`` as ``//`` in the failing address or loop bound, and as tl.cdiv in a bound: ``/`` makes a float."""
    module = subject.module
    tl = language(module)
    divisions: dict[int, ast.BinOp] = {}
    bound = False
    for function in functions(subject):
        for call in _indexing(subject, function):
            bound |= called(call) in _LOOPS
            for value in call.args if called(call) in _LOOPS else call.args[:1]:
                divisions |= {id(division): division for division in _divisions(function, value)}
    if not divisions:
        return
    written = " and ".join(dict.fromkeys(module.segment(division) for division in divisions.values()))
    why = "/ makes a float, and addresses and loop bounds are integers"
    slashes = [_slash(subject, division) for division in divisions.values()]
    results = "size: what remains of the division is dropped"
    yield from subject.rewritten(slashes, f"divide with // in {written}", why, results=results)
    if bound and tl is not None:
        edits = [
            module.replace(division, f"{tl}.cdiv({module.segment(division.left)}, {module.segment(division.right)})")
            for division in divisions.values()
        ]
        yield from subject.rewritten(
            edits,
            f"divide with {tl}.cdiv in {written}",
            why,
            results="size: one turn more where the division leaves a remainder",
        )


def _indexing(subject: Subject, function: ast.FunctionDef) -> list[ast.Call]:
    """Accesses and loops on the failing lines; where the line only computes an address, that access of it."""
    indexing = calls(function, *_MEMORY, *_LOOPS)
    failing = [node for node in indexing if subject.failing(node)]
    if failing:
        return failing
    names = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and subject.failing(node)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [node for node in indexing if any(uses(address, name) for address in node.args[:1] for name in names)]


def _divisions(function: ast.FunctionDef, value: ast.expr) -> Iterator[ast.BinOp]:
    """Divisions that become the value by arithmetic alone, here or in a name that is bound once. What a call makes
    is its own affair."""
    waiting, seen = [value], set[str]()
    while waiting:
        node = waiting.pop()
        match node:
            case ast.BinOp(op=op, left=left, right=right):
                if isinstance(op, ast.Div):
                    yield node
                waiting += [left, right]
            case ast.UnaryOp(operand=operand):
                waiting.append(operand)
            case ast.Subscript(value=inner):
                waiting.append(inner)
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                match assignments(function, name):
                    case [ast.Assign(value=bound)]:
                        waiting.append(bound)


def _slash(subject: Subject, node: ast.BinOp) -> Edit:
    """Span of the operator: between the operands, outside their parentheses and comments."""
    module = subject.module
    _, start = module.span(node.left)
    end, _ = module.span(node.right)
    between = module.text[start:end]
    # A comment may hold a slash as well; what precedes it on the line counts.
    code = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), between)
    slash = start + code.index("/")
    return Edit(slash, slash + 1, "//")


def fma_as_multiply_add(subject: Subject) -> Iterator[Rewritten]:
    """``tl.fma(a, b, c)`` of integers as ``a * b + c``: MLIR's math.fma is for floating point."""
    if not _INTEGER_TENSOR.search(subject.scene.evidence.text):
        return
    module = subject.module
    edits = []
    for call in failing_calls(subject, ("fma",)):
        x, y, z = (argument(call, index, name) for index, name in enumerate(("x", "y", "z")))
        if x is None or y is None or z is None:
            return
        whole = any(isinstance(node, ast.Assign) and node.value is call for node in ast.walk(module.tree))
        text = f"{module.operand(x)} * {module.operand(y)} + {module.operand(z)}"
        edits.append(module.replace(call, text if whole else f"({text})"))
    yield from subject.rewritten(
        edits,
        "multiply and add in place of tl.fma",
        "tl.fma is a floating-point operation; of integers, a * b + c is the same number",
    )


def condition_as_boolean(subject: Subject) -> Iterator[Rewritten]:
    """``!= 0`` behind the condition of tl.device_assert, which must be of type i1."""
    module = subject.module
    edits: list[Edit] = []
    for call in failing_calls(subject, ("device_assert",)):
        condition = argument(call, 0, "cond")
        if condition is None or isinstance(condition, ast.Compare):
            return
        edits.append(module.replace(condition, f"{module.operand(condition)} != 0"))
    yield from subject.rewritten(
        edits,
        "compare the condition of tl.device_assert with 0",
        "tt.assert takes booleans (i1), and a number is true when it is not 0",
    )


def bitwise_atomic_as_integer(subject: Subject) -> Iterator[Rewritten]:
    """A bitwise atomic on floating-point memory, with the memory and the value viewed as integers of the same width
    (LLVM Language Reference, atomicrmw: and, or and xor take integers)."""
    module = subject.module
    tl = language(module)
    edits: list[Edit] = []
    types: set[str] = set()
    for call in failing_calls(subject, _BITWISE):
        pointer, value = argument(call, 0, "pointer"), argument(call, 1, "val")
        type_ = element(subject, root(subject, pointer))
        if tl is None or pointer is None or value is None or type_ not in _BITS:
            return
        integer = f"{tl}.{_BITS[type_]}"
        edits += behind(module, pointer, f".to({tl}.pointer_type({integer}), bitcast=True)")
        # The atomic converts its value to the memory's type; what is viewed must be of that type already.
        edits += behind(module, value, f".to({tl}.{language_dtype(type_)}).to({integer}, bitcast=True)")
        if not any(isinstance(node, ast.Expr) and node.value is call for node in ast.walk(module.tree)):
            edits.append(module.after(call, f".to({tl}.{language_dtype(type_)}, bitcast=True)"))
        types.add(type_)
    yield from subject.rewritten(
        edits,
        f"view {' and '.join(sorted(types))} memory and values as integers in the bitwise atomic",
        "and, or and xor are defined on integers; a view of the same width changes no bit",
    )
