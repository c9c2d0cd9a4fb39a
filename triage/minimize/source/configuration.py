"""Passes over the configuration: drop what is not needed, give what is needed its simplest value."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from triage.frontends.frontend import frontend
from triage.minimize.source.specimen import Specimen, without
from triage.model.case import Case, frozen
from triage.model.target import Target

_COMMON_TARGETS = ("cuda:90", "cuda:80")
"""The targets of most reports."""


def dropped(specimen: Specimen) -> list[list[Specimen]]:
    """Options, hints and inputs dropped, the target replaced by a common one. One list of alternatives for each part,
    the simplest first."""
    case = specimen.case
    options = [frozen(), *(without(case.options, name) for name in case.options)] if case.options else []
    divisible = [frozen(), *(without(case.divisible, name) for name in case.divisible)] if case.divisible else []
    commoner = takewhile(lambda target: target != str(case.target), _COMMON_TARGETS)
    alternatives = [
        *([replace(case, options=fewer)] for fewer in options),
        *([replace(case, divisible=fewer)] for fewer in divisible),
        [replace(case, inputs=frozen(), origin=frozen())] if case.inputs or case.origin else [],
        [replace(case, target=Target.parse(target)) for target in commoner],
    ]
    return _specimens(specimen, alternatives)


def small(specimen: Specimen) -> list[list[Specimen]]:
    """All large constexprs small at once: the compiler's time grows with the size of tiles."""
    case = specimen.case
    alternatives = []
    for most in (16, 32, 64):
        smaller = {
            name: most if type(value) is int and value > most and value.bit_count() == 1 else value
            for name, value in case.constexprs.items()
        }
        if smaller != dict(case.constexprs):
            alternatives.append(replace(case, constexprs=frozen(smaller)))
    return _specimens(specimen, [alternatives])


def constexprs(specimen: Specimen) -> list[list[Specimen]]:
    """Smaller constexprs and arguments of the constructor, the smallest first."""
    case = specimen.case
    alternatives = [
        [replace(case, constexprs=frozen({**case.constexprs, name: smaller})) for smaller in _smaller(value)]
        for name, value in case.constexprs.items()
    ] + [
        [replace(case, construct=frozen({**case.construct, name: smaller})) for smaller in _smaller(value)]
        for name, value in case.construct.items()
    ]
    return _specimens(specimen, alternatives)


def types(specimen: Specimen) -> list[list[Specimen]]:
    """Simpler argument types."""
    case = specimen.case
    simpler_types = frontend(case.language).simpler_types
    alternatives = [
        [replace(case, signature=frozen({**case.signature, name: simpler})) for simpler in simpler_types(str(type_))]
        for name, type_ in case.signature.items()
    ]
    return _specimens(specimen, alternatives)


def _specimens(specimen: Specimen, alternatives: list[list[Case]]) -> list[list[Specimen]]:
    return [[replace(specimen, case=case) for case in cases] for cases in alternatives if cases]


def _smaller(value: Any) -> Iterator[Any]:
    """``128`` gives 16, as tensor cores and many lowerings need that, and 64; ``8`` gives 1. A size between two that do
    not fail alike hardly ever does."""
    if value is True:
        yield False
    elif type(value) is int and value > 1:
        half = 1 << (value - 1).bit_length() - 1
        yield from dict.fromkeys([16, half] if value > 16 else [1])
