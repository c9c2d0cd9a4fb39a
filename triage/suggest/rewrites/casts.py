"""Compute in fp32 what the compiler does not compute in the type at hand.

Math functions are made for fp32 and fp64 (triton/language/math.py, _check_dtype), libdevice has symbols for those
alone, and fp8 is a storage type: it is lowered to i8 and no arithmetic exists for it
(lib/Conversion/TritonGPUToLLVM/TypeConverter.cpp).
"""

import ast
import re
from collections.abc import Iterator

from triage.source.dtypes import canonical_dtype, language_dtype
from triage.source.module import Edit, argument, called, calls
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import behind, element, failing_calls, is_method, language, root, sources

_MATH = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos", "cosh", "cospi", "div_rn",
        "erf", "erfc", "erfinv", "exp", "exp10", "exp2", "expm1", "fast_dividef", "fast_expf", "fdim", "floor", "fmod",
        "hypot", "lgamma", "log", "log10", "log1p", "log2", "nearbyint", "pow", "rcbrt", "rint", "round", "rsqrt",
        "sigmoid", "sin", "sinh", "sinpi", "softmax", "sqrt", "sqrt_rn", "tan", "tanh", "tgamma", "trunc",
    }
)  # fmt: skip
"""Functions whose arguments are all data; those of tl.math and libdevice among them have no 16-bit form."""

_REDUCTIONS = frozenset({"argmax", "argmin", "associative_scan", "cumprod", "cumsum", "reduce", "sum"})
"""Their first argument is the data."""

_SELECTIONS = frozenset({"flip", "max", "maximum", "min", "minimum", "sort", "topk"})
"""What they give back are values that went in, so that casting back is exact."""

_INDEX_REDUCTIONS = frozenset({"argmax", "argmin"})
"""Their result is an index, which does not depend on the type."""

_LIBRARY_ARGUMENT = re.compile(r"KeyError: \((?:triton\.language\.)?(\w+)")
_GOT = re.compile(r"but got (\w+)|unexpected type (\w+)")
_NARROW = re.compile(r"bf16|fp8\w+")


def argument_in_fp32(subject: Subject) -> Iterator[Rewritten]:
    """The failing function's arguments converted to fp32: with the result as before where that is exact or 16-bit,
    and with the result in fp32."""
    tl = language(subject.module)
    failing = failing_calls(subject, _MATH | _REDUCTIONS | _SELECTIONS)
    if tl is None or not failing:
        return
    before = _refused_type(subject)
    names = ", ".join(dict.fromkeys(called(call) for call in failing))
    why = f"{names} of {before or 'this type'} has no implementation, and in fp32 it has"
    if len(failing) == 1 and before.startswith(("fp16", "bf16", "fp8")):
        exact = called(failing[0]) in _SELECTIONS
        if exact or not before.startswith("fp8"):
            edits = _converted(subject, failing, tl, f"{tl}.{language_dtype(before)}")
            results = "" if exact else f"precision: {names} is computed in fp32 and rounded to {before} afterwards"
            change = f"convert the argument of {names} to fp32, and its result back to {before}"
            yield from subject.rewritten(edits, change, why, results=results)
    results = f"precision: {names} is computed in fp32, and its result is fp32 in place of {before or 'its own type'}"
    if all(called(call) in _INDEX_REDUCTIONS for call in failing):
        results = ""
    edits = _converted(subject, failing, tl, None)
    yield from subject.rewritten(edits, f"convert the argument of {names} to fp32", why, results=results)


def _refused_type(subject: Subject) -> str:
    """The type that the message names; for fp8, which LLVM calls i8, that of the only fp8 pointer; "" if unknown."""
    text = subject.scene.evidence.text
    if match := _GOT.search(text) or _LIBRARY_ARGUMENT.search(text):
        name = canonical_dtype(next(filter(None, match.groups())))
        if re.fullmatch(r"fp(?:16|32|64|8e\w+)|bf16|u?i\d+", name):
            return name
    types = {element(subject, name) for name in subject.scene.case.signature}
    fp8 = {type_ for type_ in types if type_.startswith("fp8")}
    return fp8.pop() if len(fp8) == 1 else ""


def _converted(subject: Subject, failing: list[ast.Call], tl: str, back: str | None) -> list[Edit]:
    """The edits that convert the arguments, and the results back; none where the text does not show the arguments."""
    edits: list[Edit] = []
    for call in failing:
        data = _data(subject, call)
        if not data:
            return []
        for value in data:
            edits += behind(subject.module, value, f".to({tl}.float32)")
        if back is not None:
            edits.append(subject.module.after(call, f".to({back})"))
    return edits


def _data(subject: Subject, call: ast.Call) -> list[ast.expr]:
    """The arguments that hold data. Plain numbers have no type to convert."""
    if is_method(subject.module, call) and isinstance(call.func, ast.Attribute):
        return [call.func.value]
    name = called(call)
    every = name in _MATH or name in ("maximum", "minimum")
    values = call.args if every else call.args[:1]
    if not values and (first := argument(call, 0, "input", "x")) is not None:
        values = [first]
    # tl.reduce takes a tuple as well, and *args hides how many there are.
    if any(isinstance(value, ast.Tuple | ast.Starred) for value in values):
        return []
    return [value for value in values if not isinstance(value, ast.Constant)]


def loads_in_fp32(subject: Subject) -> Iterator[Rewritten]:
    """What is loaded from fp8 pointers converted to fp32 at the loads; then from bf16 pointers too."""
    tl = language(subject.module)
    if tl is None:
        return
    for pattern in ("fp8", "fp8|bf16"):
        loads = [(load, name) for load, name in _loads(subject) if re.match(pattern, element(subject, name))]
        edits = [edit for load, _ in loads for edit in behind(subject.module, load, f".to({tl}.float32)")]
        names = list(dict.fromkeys(name for _, name in loads))
        types = " and ".join(dict.fromkeys(element(subject, name) for name in names))
        yield from subject.rewritten(
            edits,
            f"convert what is loaded from {', '.join(names)} to fp32",
            f"fp8 has no arithmetic (it is lowered to i8) and bf16 little; {types} is exact in fp32",
            results=f"precision: computed in fp32 in place of {types}",
        )


def _rereads_bits(call: ast.Call) -> bool:
    """A bitcast, or assembly: both depend on how the bits of their argument are laid out."""
    positions = {"to": 2, "cast": 3}
    bitcast = argument(call, positions.get(called(call), len(call.args)), "bitcast")
    return bitcast is not None or called(call) == "inline_asm_elementwise"


def _loads(subject: Subject) -> list[tuple[ast.Call, str]]:
    """Loads from narrow pointers whose values are not converted there and then, and go neither to a dot (it has
    instructions for the narrow type) nor to a bitcast (it would read other bits)."""
    kernel = subject.kernel
    unchanged: set[int] = set()
    for node in ast.walk(kernel):
        operands: list[ast.expr] = []
        if called(node) in ("dot", "dot_scaled") and isinstance(node, ast.Call):
            operands = node.args[:4]
        elif isinstance(node, ast.Call) and _rereads_bits(node):
            operands = [node]
        unchanged |= {id(child) for operand in operands for child in sources(kernel, operand)}
    converted = {id(node.value) for node in ast.walk(kernel) if isinstance(node, ast.Attribute) and node.attr == "to"}
    loads: list[tuple[ast.Call, str]] = []
    for node in calls(kernel, "load"):
        if id(node) in unchanged | converted:
            continue
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        address = receiver if is_method(subject.module, node) else argument(node, 0, "pointer")
        name = root(subject, address)
        if name is not None and _NARROW.fullmatch(element(subject, name)):
            loads.append((node, name))
    return loads
