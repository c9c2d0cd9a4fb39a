"""A case's inputs as numbers: one launch, with every expression evaluated for one configuration.

A neighbour has other constexprs, so its grid may differ; what must stay the same for two measurements to be
comparable is the *problem*: the tensors as they are filled, whatever order they are stored in.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from triage.model import expression
from triage.model.argument_types import ELEMENT_BYTES, MANTISSA_BITS, ArgumentType, Form, argument_type
from triage.model.expression import BadExpression

FLOAT_FILLS = ("normal", "uniform")
MOST_BYTES = 16 << 30
"""Of all tensors together: fits every data-centre GPU, and takes less than minutes to fill."""
_GRID_LIMITS = ((1 << 31) - 1, 65535, 65535)
"""CUDA C++ Programming Guide, table of technical specifications: greatest x, y and z of a grid."""
_RANDINT_HIGH = 16
"""Small enough that a sum of products stays exact in fp32, and not all ones."""
_ULPS = 4
"""Rounding in another order moves a sum by a few units in the last place of its largest element."""
_LOOSEST = 0.1
"""Above a tenth, two results do not agree in any type; the fp8 formats would allow more."""


class BadInputs(ValueError):
    """The inputs do not fit the configuration. ``field`` is the path of the wrong field, beginning with ``inputs``."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field, self.problem = field, problem


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """An argument that is memory. ``shape`` is how it is filled; stored, the last two are exchanged when
    ``transposed``. ``block`` is the tile of a tensor descriptor, empty for a pointer. ``low`` and ``high`` are the
    bounds of ``uniform`` and ``randint``."""

    name: str
    element: str
    shape: tuple[int, ...]
    fill: str
    transposed: bool = False
    block: tuple[int, ...] = ()
    low: float = 0
    high: float = 1

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The arguments and the grid of one launch. ``tolerance`` is relative to the output's largest magnitude."""

    tensors: tuple[TensorArgument, ...]
    scalars: Mapping[str, int | float]
    grid: tuple[int, int, int]
    outputs: tuple[str, ...]
    tolerance: float
    flops: int | None

    def problem(self) -> dict[str, str]:
        """What is computed on, apart from configuration, element types and storage order: argument → words."""
        return {
            tensor.name: f"{'x'.join(map(str, tensor.shape))} {tensor.fill}"
            + (f" {tensor.low} to {tensor.high}" if tensor.fill in ("uniform", "randint") else "")
            for tensor in self.tensors
        }

    def to_message(self) -> dict[str, Any]:
        """As the worker reads it."""
        tensors = [asdict(tensor) for tensor in self.tensors]
        return {"tensors": tensors, "scalars": dict(self.scalars), "grid": self.grid, "outputs": self.outputs}


def resolve(
    inputs: Mapping[str, Any], signature: Mapping[str, Any], constexprs: Mapping[str, Any], divisors: Mapping[str, int]
) -> LaunchPlan:
    """Evaluate the inputs for one configuration. ``divisors``: those that the kernel is compiled with; every value must
    be a multiple of its divisor. Raises BadInputs."""
    values = _Values(inputs, signature, constexprs)
    tensors: list[TensorArgument] = []
    scalars: dict[str, int | float] = {}
    for name, text in signature.items():
        field = f"inputs.arguments.{name}"
        type_ = argument_type(text)
        if type_ is None:
            raise BadInputs(field, f"values of type {text!r} cannot be made")
        stated = values.stated(name)
        if type_.form in (Form.POINTER, Form.DESCRIPTOR):
            if not isinstance(stated, Mapping):
                raise BadInputs(field, f"missing; {text!r} needs a shape")
            tensors.append(_tensor(name, type_, stated, values))
        else:
            scalars[name] = _scalar(name, type_, values, divisors.get(name, 1))
    if (total := sum(tensor.elements * ELEMENT_BYTES[tensor.element] for tensor in tensors)) > MOST_BYTES:
        raise BadInputs("inputs.arguments", f"{total} bytes in all; at most {MOST_BYTES} are made")
    return LaunchPlan(
        tensors=tuple(tensors),
        scalars=scalars,
        grid=_grid(inputs.get("grid", ()), values),
        outputs=tuple(name for name in inputs.get("outputs", ()) if name in signature),
        tolerance=_tolerance(inputs.get("tolerance"), tensors),
        flops=values.integer(inputs["flops"], "inputs.flops", least=1) if "flops" in inputs else None,
    )


class _Values:
    """Names to integers: sizes, constexprs, and integer arguments, which may be expressions over one another."""

    def __init__(self, inputs: Mapping[str, Any], signature: Mapping[str, Any], constexprs: Mapping[str, Any]) -> None:
        self._sizes: Mapping[str, Any] = inputs.get("sizes", {})
        self._arguments: Mapping[str, Any] = inputs.get("arguments", {})
        self._signature, self._constexprs = signature, constexprs
        self._open: list[str] = []

    def stated(self, name: str) -> Any:
        """The case's value for an argument; None when it has none."""
        return self._arguments.get(name, self._sizes.get(name))

    def integer(self, value: Any, field: str, least: int | None = None) -> int:
        """The value of a number or an expression."""
        try:
            number = expression.evaluate(expression.parse(value), self._named) if isinstance(value, str) else int(value)
        except BadExpression as error:
            raise BadInputs(field, str(error)) from None
        if least is not None and number < least:
            result = f"{value} is {number}" if isinstance(value, str) else f"found {number}"
            raise BadInputs(field, f"{result}; at least {least} is needed")
        return number

    def _named(self, name: str) -> int:
        value = self._constexprs.get(name)
        if name in self._signature:
            value = self.stated(name)
        elif name in self._sizes:
            value = self._sizes[name]
        if isinstance(value, str) and name in self._signature:
            if name in self._open:
                raise BadExpression(f"{' → '.join([*self._open, name])} has no end")
            self._open.append(name)
            number = expression.evaluate(expression.parse(value), self._named)
            self._open.pop()
            return number
        if not isinstance(value, int) or isinstance(value, bool):
            known = (*self._sizes, *self._integers(self._constexprs), *self._integers(self._arguments))
            raise BadExpression(f"{name!r} is not a known integer; known are {', '.join(known) or 'none'}")
        return value

    @staticmethod
    def _integers(values: Mapping[str, Any]) -> list[str]:
        return [name for name, value in values.items() if isinstance(value, int) and not isinstance(value, bool)]


def _tensor(name: str, type_: ArgumentType, stated: Mapping[str, Any], values: _Values) -> TensorArgument:
    field = f"inputs.arguments.{name}"
    shape = tuple(values.integer(extent, f"{field}.shape", least=1) for extent in stated["shape"])
    if type_.block and len(shape) != len(type_.block):
        raise BadInputs(f"{field}.shape", f"{len(shape)} dimensions, the descriptor's tile has {len(type_.block)}")
    if (transposed := bool(stated.get("transposed"))) and len(shape) < 2:
        raise BadInputs(f"{field}.transposed", "one dimension has nothing to be exchanged with")
    fill = stated.get("fill", type_.default_fill)
    if fill in FLOAT_FILLS and not type_.is_float:
        raise BadInputs(f"{field}.fill", f"{fill!r} needs floating-point elements, not {type_.element}")
    low, high = stated.get("low", 0), stated.get("high", 1)
    if fill == "randint":
        most = _RANDINT_HIGH if type_.is_float else min(_RANDINT_HIGH, type_.integer_range()[1] + 1)
        low, high = values.integer(low, f"{field}.low"), values.integer(stated.get("high", most), f"{field}.high")
        _check_fits(type_, low, f"{field}.low")
        _check_fits(type_, high - 1, f"{field}.high")
    if not low < high:
        raise BadInputs(f"{field}.high", f"{high} is not above low, which is {low}")
    tensor = TensorArgument(name, type_.element, shape, fill, transposed, type_.block, low, high)
    if fill == "arange":
        _check_fits(type_, tensor.elements - 1, f"{field}.fill")
    return tensor


def _check_fits(type_: ArgumentType, value: int, field: str) -> None:
    if type_.is_float:
        return
    least, greatest = type_.integer_range()
    if not least <= value <= greatest:
        raise BadInputs(field, f"{value} does not fit into {type_.element}")


def _scalar(name: str, type_: ArgumentType, values: _Values, divisor: int) -> int | float:
    field = f"inputs.arguments.{name}"
    stated = values.stated(name)
    if stated is None or isinstance(stated, Mapping):
        raise BadInputs(field, f"missing; {type_.element!r} needs a number or an expression")
    if type_.form is Form.FLOAT:
        return values.integer(stated, field) if isinstance(stated, str) else float(stated)
    value = values.integer(stated, field)
    _check_fits(type_, value, field)
    if value % divisor:
        raise BadInputs(field, f"{value} is not divisible by {divisor}, as divisible.{name} says")
    return value


def _grid(stated: Any, values: _Values) -> tuple[int, int, int]:
    extents = [values.integer(extent, "inputs.grid", least=1) for extent in stated]
    for axis, extent, most in zip("xyz", extents, _GRID_LIMITS, strict=False):
        if extent > most:
            raise BadInputs("inputs.grid", f"{extent} blocks along {axis}; at most {most}")
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z


def _tolerance(stated: float | None, tensors: list[TensorArgument]) -> float:
    """The stated tolerance, else a few units in the last place of the coarsest floating-point type among the tensors,
    all of which a result passes through. 0 for integers, whose sums do not depend on the order."""
    if stated is not None:
        return float(stated)
    bits = [MANTISSA_BITS[tensor.element] for tensor in tensors if tensor.element in MANTISSA_BITS]
    return min(_ULPS * 2.0 ** -min(bits), _LOOSEST) if bits else 0.0
