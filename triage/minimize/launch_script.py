"""``reproducer_launch.py``: the reproducer that launches the kernel once, on a GPU with its driver.

The arguments are those of the case's ``inputs``, else zeroed buffers, ones and a grid of one block. Memory is taken
from the driver's own library: Triton's launcher asks a tensor for its address and its type, which takes no torch.
Tested on an H200 with Triton 3.6.0, and against a stand-in for libcuda with every release from 3.0 to 3.9. The part for
AMD has not run on a GPU yet.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from triage.minimize import reproducer as reproducers
from triage.minimize.failure import OriginalFailure
from triage.minimize.reproducer import Expected
from triage.minimize.source.specimen import Specimen, inputs_for
from triage.model import launch_plan as plan
from triage.model.argument_types import ELEMENT_BYTES, Form, argument_type
from triage.model.case import Case
from triage.model.launch_plan import BadInputs, TensorArgument
from triage.model.outcome import Outcome, Stage

FILE = "reproducer_launch.py"
RAN = "REPRODUCER: done"
"""The last line that the script's child prints after a launch without an error …"""
CANNOT_TELL = "REPRODUCER: cannot tell: "
"""… and when it cannot launch, with the reason."""
NOT_LAUNCHED = "cannot tell, not launched:"
"""The script's own line for that."""

_BUFFER_BYTES = 64 << 20
"""Size of each buffer without inputs: more than one block reaches with its own offsets."""
_START_S = 60.0
"""Additional time to build Triton's launcher with a C compiler and to create a context."""
_BY_THE_DRIVER = {"threads", "cluster blocks"}
"""Limits that releases, or the older of them, leave to the driver to check."""
_REFUSED = (
    r"Triton Error \[\w+\]: [^\n]*"
    r"(?:invalid argument|invalid configuration|too many resources|cluster misconfiguration)"
)


class UnsupportedArgument(ValueError):
    """No value of an argument's type can be made; the message names it."""


@dataclass(frozen=True, slots=True)
class LaunchArguments:
    """For each argument a number, or element type, shape, fill, low and high of a tensor; and the grid."""

    values: Mapping[str, Any]
    grid: tuple[int, int, int]


def needed(outcome: Outcome) -> bool:
    """Whether a script can show the failure only by a launch; limits that the binary states need none."""
    return outcome.beyond_shared is not None or was_launched(outcome)


def was_launched(outcome: Outcome) -> bool:
    """Whether the failure was seen in a launch."""
    return outcome.stage is Stage.LAUNCH or (outcome.stage is Stage.LOAD and outcome.over_limit is None)


def arguments(case: Case, *inputs: Mapping[str, Any]) -> LaunchArguments:
    """The arguments by the first of the inputs that fits the case's signature, else default ones. Raises
    UnsupportedArgument."""
    for candidate in inputs:
        with suppress(BadInputs):
            if fitting := inputs_for(case.signature, candidate):
                resolved = plan.resolve(fitting, case.signature, case.constexprs, case.divisibility())
                tensors = {
                    tensor.name: (tensor.element, list(_stored(tensor)), tensor.fill, tensor.low, tensor.high)
                    for tensor in resolved.tensors
                }
                return LaunchArguments({**tensors, **resolved.scalars}, resolved.grid)
    divisors = case.divisibility()
    default = {name: _default(name, str(text), divisors) for name, text in case.signature.items()}
    return LaunchArguments(default, (1, 1, 1))


def _stored(tensor: TensorArgument) -> tuple[int, ...]:
    *outer, rows, columns = (1, *tensor.shape)
    return (*outer, columns, rows)[1:] if tensor.transposed else tensor.shape


def _default(name: str, text: str, divisors: Mapping[str, int]) -> Any:
    type_ = argument_type(text)
    if type_ is None:
        raise UnsupportedArgument(f"{name}: values of type {text!r} cannot be made")
    if type_.form is Form.POINTER:
        return (type_.element, [_BUFFER_BYTES // ELEMENT_BYTES[type_.element]], "zeros", 0, 1)
    if type_.form is Form.DESCRIPTOR:
        return (type_.element, list(type_.block), "zeros", 0, 1)
    return 1.0 if type_.form is Form.FLOAT else divisors.get(name, 1)


def expected(failure: OriginalFailure) -> Expected:
    """What a launch with the same failure shows."""
    compiled = reproducers.expected(failure.diagnosis, failure.outcome)
    if compiled.timeout_s is not None:
        return replace(compiled, timeout_s=compiled.timeout_s + _START_S)
    if compiled.limit is not None and compiled.limit[0] in _BY_THE_DRIVER:
        return replace(compiled, pattern=f"{compiled.pattern}|{_REFUSED}")
    return compiled


def reproducer(specimen: Specimen, passed: LaunchArguments, failure: OriginalFailure | None, triton: str) -> str:
    """The text of ``reproducer_launch.py``. Without a failure to look for, only the script's child is of use."""
    settings: dict[str, Any] = {}
    if failure is not None:
        settings = {
            "HEADLINE": failure.diagnosis.headline,
            **expected(failure).settings(),
            "PATIENCE_S": reproducers.patience_s(failure.outcome) + _START_S,
        }
    gpu = f"a GPU ({specimen.case.target}) with its driver"
    parts = {
        "@NEEDS@": f"{gpu}, a C compiler, and nothing but Triton: pip install triton=={triton}",
        "@DOES@": "compiles and runs",
        "@MISSING@": f'    missing = re.search("{CANNOT_TELL}(.*)", printed)\n'
        "    if missing:\n"
        f'        print("{NOT_LAUNCHED}", missing.group(1))\n'
        "        return 125\n",
        "@LAST@": "launch",
    }
    work = {
        "@WORK@": reproducers.filled("launch.py.txt", {}),
        "@ACTIVE@": "_GPU = _Gpu(_TARGET)\n_driver.set_active(_GPU.driver())",
    }
    last = [
        "# Of a tensor: element type, shape, fill, low, high.",
        f"_ARGUMENTS = {reproducers.python(dict(passed.values))}",
        f"_GRID = {passed.grid}",
        f"_launch({specimen.case.name})",
    ]
    return reproducers.triton_script(specimen, settings, parts, work, *last)
