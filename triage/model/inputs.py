"""The field ``inputs`` of a case: how to make its arguments, and the grid to launch it with. Checked here by shape.

    {"sizes": {"M": 4096, "N": 4096, "K": 4096},
     "arguments": {"a_ptr": {"shape": ["M", "K"]},
                   "b_ptr": {"shape": ["K", "N"], "fill": "normal", "transposed": true},
                   "c_ptr": {"shape": ["M", "N"], "fill": "zeros"},
                   "stride": "K"},
     "grid": ["cdiv(M, BLOCK_M)", "cdiv(N, BLOCK_N)"],
     "outputs": ["c_ptr"], "tolerance": 0.004, "flops": "2 * M * N * K"}

``arguments`` has one element for each argument of the signature: an object for a pointer or a tensor descriptor, a
number or an expression for a scalar. A scalar whose name is in ``sizes`` may be left out. Element types come from
the signature, a descriptor's tile as well. ``fill``: ``normal`` (mean 0, deviation 1), ``uniform`` and ``randint``
(from ``low`` up to, but without, ``high``; 0 and 1, 0 and 16 where they are left out), ``zeros``, ``ones``, ``arange``;
left out, ``normal`` for floating-point elements and ``randint`` for integers. The values depend on the argument's
name alone, so every configuration gets the same. ``transposed``: filled in the shape that is given, then stored with
the last two dimensions exchanged, contiguous.

Expressions (see ``expression.py``) may name sizes, integer arguments and integer constexprs. ``outputs`` are compared
between the suggestions; ``tolerance`` bounds the largest difference, relative to the largest magnitude of the first
one's output. ``flops`` are floating-point operations of one launch.
"""

import math
from collections.abc import Mapping
from typing import Any

from triage.model import expression
from triage.model import launch_plan as plan
from triage.model.argument_types import ArgumentType, Form, argument_type
from triage.model.expression import BadExpression

_FIELDS = ("sizes", "arguments", "grid", "outputs", "tolerance", "flops")
_TENSOR_FIELDS = ("shape", "fill", "transposed", "low", "high")
FILLS = ("normal", "uniform", "zeros", "ones", "arange", "randint")
_MOST_DIMENSIONS = 8
_MOST_SIZE = 1 << 40


def check(
    value: Any, signature: Mapping[str, Any], constexprs: Mapping[str, Any], divisors: Mapping[str, int], bad: Any
) -> dict[str, Any]:
    """The field as a dictionary, if it is one that can be resolved with the case's own values. ``bad(field, problem)``
    makes the error that is raised when it is not; ``field`` begins with ``inputs``."""
    inputs = _object(value, "inputs", bad)
    _known(inputs, _FIELDS, "inputs", bad)
    sizes = _object(inputs.get("sizes", {}), "inputs.sizes", bad)
    for name, size in sizes.items():
        _check_size(name, size, constexprs, bad)
    arguments = _object(inputs.get("arguments", {}), "inputs.arguments", bad)
    for name in arguments:
        if name not in signature:
            problem = "a constexpr has its value already" if name in constexprs else "not an argument of the signature"
            raise bad(f"inputs.arguments.{name}", problem)
    for name, type_ in signature.items():
        _check_argument(name, type_, arguments.get(name, sizes.get(name)), bad)
    _check_sizes(inputs.get("grid"), 3, "inputs.grid", bad)
    _check_outputs(inputs.get("outputs", []), signature, bad)
    tolerance = inputs.get("tolerance")
    if tolerance is not None and not (_is_number(tolerance) and tolerance >= 0):
        raise bad("inputs.tolerance", f"expected a number that is not negative, found {tolerance!r}")
    if "flops" in inputs:
        _check_integer(inputs["flops"], "inputs.flops", bad)
    try:
        plan.resolve(inputs, signature, constexprs, divisors)
    except plan.BadInputs as error:
        raise bad(error.field, error.problem) from None
    return inputs


def stored_transposed(inputs: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """The same inputs for a kernel that reads ``argument`` from its transpose: filled as before, stored the other way
    round. Scalars stay: a stride that the caller passes for it is not known to be one here."""
    arguments = dict(inputs["arguments"])
    tensor = arguments[argument]
    arguments[argument] = {**tensor, "transposed": not tensor.get("transposed", False)}
    return {**inputs, "arguments": arguments}


def _check_size(name: str, value: Any, constexprs: Mapping[str, Any], bad: Any) -> None:
    field = f"inputs.sizes.{name}"
    if not name.isidentifier():
        raise bad(field, "a size has a name that expressions can use")
    if name in constexprs:
        raise bad(field, "also in constexprs; a name is one or the other")
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_SIZE:
        raise bad(field, f"expected an integer from 0 to 2**40, found {value!r}")


def _check_argument(name: str, text: Any, value: Any, bad: Any) -> None:
    field = f"inputs.arguments.{name}"
    type_ = argument_type(text)
    if type_ is None:
        raise bad(field, f"values of type {text!r} cannot be made")
    tensor = type_.form in (Form.POINTER, Form.DESCRIPTOR)
    if value is None:
        example = '{"shape": ["M", "K"]}' if tensor else "a number or an expression"
        raise bad(field, f"missing; {text!r} needs {example}")
    if tensor:
        _check_tensor(value, type_, field, bad)
    elif isinstance(value, str):
        _check_integer(value, field, bad)
    elif type_.form is Form.FLOAT and not _is_number(value):
        raise bad(field, f"expected a number or an expression, found {value!r}")
    elif type_.form is Form.INTEGER and not _is_integer(value, type_):
        raise bad(field, f"expected an integer or an expression, found {value!r}")


def _is_integer(value: Any, type_: ArgumentType) -> bool:
    """JSON's true and false are values of one bit, and of nothing else."""
    return isinstance(value, int) and (not isinstance(value, bool) or type_.integer_range() == (0, 1))


def _check_tensor(value: Any, type_: ArgumentType, field: str, bad: Any) -> None:
    _known(_object(value, field, bad), _TENSOR_FIELDS, field, bad)
    shape = value.get("shape")
    _check_sizes(shape, _MOST_DIMENSIONS, f"{field}.shape", bad)
    transposed = value.get("transposed", False)
    if not isinstance(transposed, bool):
        raise bad(f"{field}.transposed", f"expected true or false, found {transposed!r}")
    fill = value.get("fill", type_.default_fill)
    if fill not in FILLS:
        raise bad(f"{field}.fill", f"{fill!r} is not one of {', '.join(FILLS)}")
    if fill in plan.FLOAT_FILLS and not type_.is_float:
        raise bad(f"{field}.fill", f"{fill!r} needs floating-point elements, not {type_.element}; use randint")
    for bound in ("low", "high"):
        if bound not in value:
            continue
        if fill == "randint":
            _check_integer(value[bound], f"{field}.{bound}", bad)
        elif fill != "uniform":
            raise bad(f"{field}.{bound}", f"only uniform and randint have bounds, the fill is {fill!r}")
        elif not _is_number(value[bound]):
            raise bad(f"{field}.{bound}", f"expected a number, found {value[bound]!r}")


def _check_sizes(value: Any, most: int, field: str, bad: Any) -> None:
    if not isinstance(value, list) or not 1 <= len(value) <= most:
        shown = "nothing" if value is None else repr(value)
        raise bad(field, f"expected a list of 1 to {most} sizes such as ['cdiv(M, BLOCK_M)'], found {shown}")
    for extent in value:
        _check_integer(extent, field, bad)


def _check_outputs(value: Any, signature: Mapping[str, Any], bad: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise bad("inputs.outputs", f"expected a list of arguments, found {value!r}")
    for name in value:
        type_ = argument_type(signature[name]) if name in signature else None
        if type_ is None or type_.form not in (Form.POINTER, Form.DESCRIPTOR):
            raise bad("inputs.outputs", f"{name!r} is not a pointer or tensor descriptor of the signature")
    if len(set(value)) < len(value):
        raise bad("inputs.outputs", "an argument is named twice")


def _check_integer(value: Any, field: str, bad: Any) -> None:
    """A number or an expression, whose value shows when it is resolved."""
    if isinstance(value, str):
        try:
            expression.parse(value)
        except BadExpression as error:
            raise bad(field, str(error)) from None
    elif not isinstance(value, int) or isinstance(value, bool):
        raise bad(field, f"expected an integer or an expression, found {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _object(value: Any, field: str, bad: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise bad(field, f"expected an object, found {type(value).__name__}")
    return value


def _known(value: Mapping[str, Any], fields: tuple[str, ...], where: str, bad: Any) -> None:
    if unknown := sorted(set(value) - set(fields)):
        raise bad(f"{where}.{unknown[0]}", f"unknown field; known are {', '.join(fields)}")
