"""The configuration's own reductions: what is not needed is dropped, what is needed goes to its simplest value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from triage.minimize.specimen import Specimen
from triage.model.case import Case, frozen
from triage.model.target import Target

_COMMON_TARGETS = ("cuda:90", "cuda:80")
"""Where most reports are read and re-run."""
_TYPES = ("fp32", "fp16")


def dropped(specimen: Specimen) -> list[list[Specimen]]:
    """Alternatives, the simplest first, one list for each part: options, hints, target."""
    case = specimen.case
    found: list[list[Case]] = []
    if case.options:
        found.append([replace(case, options=frozen())])
    found += [[_without(case, "options", name)] for name in case.options]
    if case.divisible:
        found.append([replace(case, divisible=frozen())])
    found += [[_without(case, "divisible", name)] for name in case.divisible]
    if case.inputs or case.origin:
        found.append([replace(case, inputs=frozen(), origin=frozen())])
    found.append([replace(case, target=Target.parse(one)) for one in _nearer(str(case.target))])
    return [[replace(specimen, case=one) for one in cases] for cases in found if cases]


def values(specimen: Specimen) -> list[list[Specimen]]:
    """Smaller constexprs, the smallest first; and simpler argument types."""
    case = specimen.case
    found: list[list[Case]] = []
    for name, value in case.constexprs.items():
        smaller = list(_smaller(value))
        found.append([replace(case, constexprs=frozen({**case.constexprs, name: one})) for one in smaller])
    for name, type_ in case.signature.items():
        simpler = list(_simpler(str(type_)))
        found.append([replace(case, signature=frozen({**case.signature, name: one})) for one in simpler])
    return [[replace(specimen, case=one) for one in cases] for cases in found if cases]


def _nearer(target: str) -> Iterator[str]:
    for common in _COMMON_TARGETS:
        if common == target:
            return
        yield common


def _without(case: Case, part: str, name: str) -> Case:
    kept = frozen({key: value for key, value in getattr(case, part).items() if key != name})
    return replace(case, options=kept) if part == "options" else replace(case, divisible=kept)


def _smaller(value: Any) -> Iterator[Any]:
    """``128`` gives 16, 32, 64: tensor cores and many lowerings need 16; then what is below."""
    if value is True:
        yield False
    elif type(value) is int and value > 1:
        powers = [1 << exponent for exponent in range(value.bit_length()) if 1 << exponent < value]
        yield from [power for power in powers if power >= 16]
        yield from [power for power in reversed(powers) if power < 16]


def _simpler(type_: str) -> Iterator[str]:
    if type_.startswith("*"):
        for common in _TYPES:
            if type_ == f"*{common}":
                return
            yield f"*{common}"
    elif type_.startswith(("i", "u")) and type_ != "i32":
        yield "i32"
    elif type_.startswith(("fp", "bf")) and type_ != "fp32":
        yield "fp32"
