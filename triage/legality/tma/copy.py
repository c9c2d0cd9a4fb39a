"""Checks whether a bulk tensor copy (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor) is legal.

PTX ISA 9.1, "cp.async.bulk.tensor", agrees with ptxas 13.4 by enumeration of directions, modes, ranks, operands,
qualifiers and targets. Ranks 0 and 6 are syntax errors. The ISA does not say that the reducing form takes
.tile::scatter4 too, nor that sm_120, and all of 10.0 and later without architecture-specific features, has .im2col::w
and .tile::gather4 to .shared::cta only.
"""

from triage.legality.limits import architecture
from triage.legality.violation import Violation, refuse, require
from triage.model.target import Target

COPY = "PTX ISA, cp.async.bulk.tensor"
TENSORS = "PTX ISA, tensors: access modes"

DIRECTIONS = ("load", "store", "reduce")
_LOADS = ("tile", "gather4", "im2col", "im2col_w", "im2col_w_128")
_STORES = ("tile", "scatter4", "im2col")
_FAMILY = range(100, 120)
"""Compute capabilities whose own features hold the modes of datacenter Blackwell."""
_FAMILY_TARGETS = ("cuda:100", "cuda:103", "cuda:110")


def violations(
    *,
    direction: str = "load",
    mode: str = "tile",
    rank: int = 2,
    destination: str = "shared::cta",
    multicast: bool = False,
    cta_group: int | None = None,
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of a copy; empty when ptxas takes it.

    ``direction`` is ``load`` (global to shared memory), ``store`` or ``reduce`` (shared to global); ``mode`` is one of
    the tensor map's (``im2col`` stores as ``.im2col_no_offs``); ``rank`` is the number of ``.Nd``; ``destination`` of a
    load is ``shared::cta`` or ``shared::cluster``, which alone can be multicast; ``cta_group`` is 1, 2 or None.
    """
    if direction not in DIRECTIONS:
        reason = f"{direction!r} is not one of {', '.join(DIRECTIONS)}"
        return [refuse("tma.direction", direction, DIRECTIONS, COPY, reason, ())]
    loads = direction == "load"
    broken = mode_violations(mode, target, destination if loads else None)
    broken += require("tma.mode", mode, _LOADS if loads else _STORES, COPY, f"a {direction} has no mode {mode}", ())
    ranks = (2,) if mode in ("gather4", "scatter4") else (3, 4, 5) if mode.startswith("im2col") else (1, 2, 3, 4, 5)
    reason = f"a copy in mode {mode} has {ranks[0]} to {ranks[-1]} axes, not {rank}"
    broken += require("tma.rank", rank, ranks, COPY, reason)
    spaces = ("shared::cta", "shared::cluster")
    if loads:
        reason = f"{destination!r} is not one of {', '.join(spaces)}"
        broken += require("tma.destination", destination, spaces, COPY, reason, ())
    if multicast and (not loads or destination != "shared::cluster"):
        reason = "only a load to .shared::cluster is multicast"
        broken.append(refuse("tma.multicast", True, (False,), COPY, reason))
    return broken if cta_group is None else broken + _cta_group(cta_group, direction, target)


def _cta_group(group: int, direction: str, target: str | Target | None) -> list[Violation]:
    if direction != "load" or group not in (1, 2):
        reason = f".cta_group::{group}: a load has 1 or 2, and nothing else has it"
        allowed = (1, 2) if direction == "load" else ()
        return [refuse("tma.cta-group", group, allowed, COPY, reason, ())]
    return _family_only(target, ".cta_group: pairs of CTAs are datacenter Blackwell's (10.x, 11.0)")


def _family_only(target: str | Target | None, feature: str) -> list[Violation]:
    """The violation of a feature that needs datacenter Blackwell with its architecture-specific features enabled."""
    number, features = architecture(target) if target is not None else (_FAMILY[0], "a")
    if features and number in _FAMILY:
        return []
    return [refuse("tma.target", str(target), _FAMILY_TARGETS, COPY, f"{target} has no {feature}")]


def mode_violations(mode: str, target: str | Target | None, destination: str | None = None) -> list[Violation]:
    """Violations by a mode that the target lacks; for loads, to a destination (None: to any)."""
    if target is None:
        return []
    number, _ = architecture(target)
    if number < 90:
        reason = f"{target} has no TMA: it begins with 9.0"
        return [refuse("tma.target", str(target), ("cuda:90", "cuda:100", "cuda:120"), COPY, reason)]
    near = mode in ("gather4", "im2col_w") and number >= 100
    if mode in ("tile", "im2col") or (near and destination != "shared::cluster"):
        return []
    where = " to .shared::cluster" if near else ""
    return _family_only(target, f"{mode}{where}: it is datacenter Blackwell's (10.x, 11.0), with its own features on")
