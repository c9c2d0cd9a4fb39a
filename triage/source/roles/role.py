"""Roles of a kernel's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RoleKind(str, Enum):
    """What a parameter is."""

    TILE = "tile"
    """A dimension of the block that the grid or a loop steps by: another value computes the same."""
    PROBLEM = "problem"
    """A size of the data, or one that the data is laid out by: another value computes something else."""
    GROUP = "group"
    """Orders the blocks or divides the work among them."""
    FLAG = "flag"
    """Chooses a branch of the kernel."""
    DTYPE = "dtype"
    PIPELINE = "pipeline"
    """Steers the compiler: stages, unrolling, buffers."""
    LAYOUT = "layout"
    UNUSED = "unused"
    """The kernel never reads it."""
    UNKNOWN = "unknown"


class Axis(str, Enum):
    """What steps by a tile."""

    GRID = "grid"
    LOOP = "loop"
    BOTH = "both"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ParameterRole:
    """``why`` says in a few words how the kernel uses the parameter, ``line`` where (of the file, from 1; 0 where
    nothing shows it). ``masked_by``: the sizes that mask every access of a block of this size, so that a larger block
    computes the same; "" where one is not masked."""

    kind: RoleKind
    axis: Axis = Axis.NONE
    why: str = ""
    line: int = 0
    masked_by: str = ""
