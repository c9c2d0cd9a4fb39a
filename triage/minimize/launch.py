"""``reproducer_launch.py``: the reproducer that launches the kernel once, on a GPU with its driver.

The arguments are those of the case's ``inputs``, else zeroed buffers, ones and a grid of one block. Memory is taken
from the driver's own library: Triton's launcher asks a tensor for its address and its type, which takes no torch.
Launched on an H200 with Triton 3.6.0; against a stand-in for libcuda with every release from 3.0 to 3.9. The half for
AMD has met no GPU yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from triage.minimize import emit
from triage.minimize.emit import Expected
from triage.minimize.oracle import Failure
from triage.minimize.specimen import Specimen, remaining
from triage.model import launch_plan as plan
from triage.model.argument_types import ELEMENT_BYTES, Form, argument_type
from triage.model.case import Case
from triage.model.launch_plan import BadInputs, LaunchPlan, Tensor
from triage.model.outcome import Outcome, Stage

FILE = "reproducer_launch.py"
RAN = "REPRODUCER: done"
"""What the child of the script prints last when the launch went well …"""
CANNOT_TELL = "REPRODUCER: cannot tell: "
"""… and when it could not try, with the reason."""
NOT_LAUNCHED = "cannot tell, not launched:"
"""How the script says the same."""

_BUFFER_BYTES = 64 << 20
"""Of each pointer that no inputs speak of: more than one block reaches with offsets of its own."""
_START_S = 60.0
"""What building Triton's launcher, with a C compiler, and making a context may take on top of the rest."""
_BY_THE_DRIVER = {"threads", "cluster blocks"}
"""Limits that no release, or none of the old ones, checks before it asks the driver."""
_REFUSED = (
    r"Triton Error \[\w+\]: [^\n]*"
    r"(?:invalid argument|invalid configuration|too many resources|cluster misconfiguration)"
)


class CannotLaunch(ValueError):
    """No value of an argument's type can be made; ``str`` says which."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the kernel is launched with: a number, or element type, shape, fill, low and high of a tensor, for each
    argument; and the grid."""

    values: Mapping[str, Any]
    grid: tuple[int, int, int]


def needed(outcome: Outcome) -> bool:
    """Whether only a launch shows the failure; limits that are read off the binary need none."""
    return outcome.stage is Stage.LAUNCH or (outcome.stage is Stage.LOAD and outcome.over_limit is None)


def arguments(case: Case, *stated: Mapping[str, Any]) -> Arguments:
    """Those of the first of the inputs that fit the case's signature, else the default ones. Raises CannotLaunch."""
    for inputs in stated:
        with suppress(BadInputs):
            if left := remaining(inputs, case.signature):
                return _planned(plan.resolve(left, case.signature, case.constexprs, case.divisibility()))
    divisors = case.divisibility()
    return Arguments({name: _default(name, str(text), divisors) for name, text in case.signature.items()}, (1, 1, 1))


def _planned(found: LaunchPlan) -> Arguments:
    tensors = {one.name: (one.element, list(_stored(one)), one.fill, one.low, one.high) for one in found.tensors}
    return Arguments({**tensors, **found.scalars}, found.grid)


def _stored(tensor: Tensor) -> tuple[int, ...]:
    *outer, rows, columns = (1, *tensor.shape)
    return (*outer, columns, rows)[1:] if tensor.transposed else tensor.shape


def _default(name: str, text: str, divisors: Mapping[str, int]) -> Any:
    type_ = argument_type(text)
    if type_ is None:
        raise CannotLaunch(f"{name}: values of type {text!r} cannot be made")
    if type_.form is Form.POINTER:
        return (type_.element, [_BUFFER_BYTES // ELEMENT_BYTES[type_.element]], "zeros", 0, 1)
    if type_.form is Form.DESCRIPTOR:
        return (type_.element, list(type_.block), "zeros", 0, 1)
    return 1.0 if type_.form is Form.FLOAT else divisors.get(name, 1)


def expected(failure: Failure) -> Expected:
    """What a launch that fails alike shows."""
    wanted = emit.expected(failure.diagnosis, failure.outcome)
    if wanted.timeout_s is not None:
        return replace(wanted, timeout_s=wanted.timeout_s + _START_S)
    if wanted.limit is not None and wanted.limit[0] in _BY_THE_DRIVER:
        return replace(wanted, pattern=f"{wanted.pattern}|{_REFUSED}")
    return wanted


def reproducer(specimen: Specimen, made: Arguments, failure: Failure, triton: str) -> str:
    """The whole script for a specimen."""
    settings = {
        "HEADLINE": failure.diagnosis.headline,
        **expected(failure).settings(),
        "PATIENCE_S": emit.patience_s(failure.outcome) + _START_S,
    }
    return _script(specimen, made, triton, settings)


def worker(specimen: Specimen, made: Arguments, triton: str) -> str:
    """The same script for a failure that is not known yet: of use as the child alone."""
    return _script(specimen, made, triton, {})


def _script(specimen: Specimen, made: Arguments, triton: str, settings: dict[str, Any]) -> str:
    gpu = f"a GPU ({specimen.case.target}) with its driver"
    parts = {
        "@NEEDS@": f"{gpu}, a C compiler, and nothing but Triton: pip install triton=={triton}",
        "@DOES@": "compiles and runs",
        "@MISSING@": f'    missing = re.search("{CANNOT_TELL}(.*)", said)\n'
        "    if missing:\n"
        f'        print("{NOT_LAUNCHED}", missing.group(1))\n'
        "        return 125\n",
        "@WORK@": emit.part("launch.py.txt"),
        "@ACTIVE@": "_GPU = _Gpu(_TARGET)\n_driver.set_active(_GPU.driver())",
        "@LAST@": "launch",
    }
    last = [
        "# Of a tensor: element type, shape, fill, low, high.",
        f"_ARGUMENTS = {emit.python(dict(made.values))}",
        f"_GRID = {made.grid}",
        f"_launch({specimen.case.name})",
    ]
    return emit.script(specimen, settings, parts, *last)
