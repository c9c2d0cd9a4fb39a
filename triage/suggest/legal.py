"""What the legality rules say of a configuration before anybody compiles it.

Only rules that can be asked from the outside are: the launch, and the shape and types of a matrix product whose tile
sizes are parameters named for M, N and K.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.legality import dot, dtypes, launch
from triage.legality.violation import Violation
from triage.model.case import Case
from triage.source.parameters import KernelSource
from triage.suggest.configuration import Configuration
from triage.suggest.tile_names import dimension


def broken_rules(case: Case, source: KernelSource, changes: Mapping[str, Any]) -> list[Violation]:
    """Violations of the configuration that a change makes; of the case itself where there is none."""
    at = Configuration.of(case, source, changes)
    ctas = at.values.get("num_ctas", 1)
    found = launch.violations(at.target, at.num_warps, ctas if isinstance(ctas, int) else 1)
    if source.dots and at.num_warps & (at.num_warps - 1) == 0 and at.num_warps > 0:
        found += _of_dot(case, at)
    return found


def _of_dot(case: Case, at: Configuration) -> list[Violation]:
    extents: dict[str, int] = {}
    for name in case.constexprs:
        value, letter = at.values.get(name), dimension(name)
        if letter is None or type(value) is not int:
            continue
        if letter in extents:
            return []  # Two products, or a size of the problem beside the tile: nothing is sure.
        extents[letter] = value
    operand = _operand(at)
    if set(extents) != {"M", "N", "K"} or operand is None:
        return []
    found = dot.violations(
        m=extents["M"],
        n=extents["N"],
        k=extents["K"],
        a=operand,
        target=at.target,
        triton=case.triton,
        num_warps=at.num_warps,
    )
    # The kernel may convert what it loads, so types are not judged.
    return [violation for violation in found if violation.parameter in ("m", "n", "k")]


def _operand(at: Configuration) -> dtypes.DType | None:
    """The one element type of all loaded pointers; None where there are several."""
    types = {str(at.values[name]).lstrip("*") for name in at.source.loaded if str(at.values.get(name)).startswith("*")}
    return dtypes.find(types.pop()) if len(types) == 1 else None
