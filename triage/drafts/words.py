"""What a user reads of drafted values: a line for each, and the command that states them all."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from triage.cases.stated import StatedValues
from triage.drafts.draft import Draft
from triage.drafts.model import JitFunction
from triage.model.case import Case

_OBJECTS = ("tl.", "gl.", "triton.", "ttgl.", "gluon.", "cutlass.", "cute.", "operator.")
"""Beginnings of constexprs that name an object."""
_LAUNCH_OPTIONS = ("num_warps", "num_stages", "num_ctas")


def lines(draft: Draft) -> Iterator[str]:
    """A line for each value that was drafted: parameter, value, and where that comes from."""
    for name, text in draft.drafted().items():
        is_type = name in draft.values and draft.is_argument(name)
        yield f"{name}{':' if is_type else ' ='} {text}"


def multiples(case: Case) -> Iterator[str]:
    """Which integers of a drafted case are taken as multiples of 16, and the option that takes it back."""
    if taken := [name for name in integers(case) if case.divisible.get(name) == 16]:
        yield f"{', '.join(taken)}: taken as multiples of 16, as most are; otherwise add --divisible {taken[0]}=1"


def integers(case: Case) -> list[str]:
    """Arguments that a launch specialises on multiples of 16."""
    return [name for name, type_ in case.signature.items() if type_ in ("i32", "i64", "u32", "u64")]


def arguments(case: Case) -> list[str]:
    """The options of the command line that state everything that a case has."""
    words = [word for name, type_ in case.signature.items() for word in ("--arg", f"{name}={type_}")]
    constants = {**case.construct, **case.constexprs}
    words += [word for name, value in constants.items() for word in ("--const", f"{name}={constant(value)}")]
    words += [word for name, value in case.divisible.items() for word in ("--divisible", f"{name}={value}")]
    for name, value in case.options.items():
        if name in _LAUNCH_OPTIONS:
            words += [f"--{name.replace('_', '-')}", str(value)]
        else:
            words += ["--option", f"{name}={constant(value)}"]
    return words


def constant(value: Any) -> str:
    """A constexpr as ``--const`` takes it."""
    if isinstance(value, str):
        return value if value.startswith(_OBJECTS) else repr(value)
    return repr(tuple(value)) if isinstance(value, list) else repr(value)


def command(case: Case, name: str, others: Mapping[str, Any]) -> str:
    """``triage check`` of a kernel with all its values, and the other options as they were given."""
    words = ["triage", "check", name, *arguments(case), "--target", str(case.target)]
    for option, value in others.items():
        if value not in (None, False, ()):
            words += [f"--{option.replace('_', '-')}", *([] if value is True else [str(value)])]
    return shlex.join(words)


def cautions(function: JitFunction, stated: StatedValues) -> Iterator[str]:
    """What is unusual in the values that a user gives."""
    for parameter in function.parameters:
        type_ = stated.signature.get(parameter.name)
        if type_ is None:
            continue
        name, best = parameter.name, parameter.best
        if parameter.innermost_stride and not type_.startswith("*"):
            yield (
                f"{name}: a launch with a contiguous tensor makes this stride the constant 1, and compiles another "
                f"kernel than {type_} does; give --const {name}=1 for that"
            )
        elif not type_.startswith("*") and all(str(each.value).startswith("*") for each in parameter.candidates):
            yield f"--arg {name}={type_}: {name} is an address ({best.where}); did you mean *{type_}?"
