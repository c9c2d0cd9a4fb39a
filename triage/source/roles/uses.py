"""What a kernel does with each of its parameters, as the interpreter records it and :mod:`decide` weighs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from triage.source.roles.symbols import GRID, LOADED, LOOP, NAME, NUMBER, Atom, Sum, every, names, ranges


class ParameterUse(str, Enum):
    """One way in which a kernel uses a parameter."""

    STEP_GRID = "the grid steps by it"
    STEP_LOOP = "a loop steps by it"
    COUNT = "a size is divided by it"
    EXTENT = "a block of this size addresses memory, and nothing steps by it"
    STRIDE = "it multiplies an index"
    STRIDE_OF_POSITION = "it multiplies a position in the grid or a loop"
    OFFSET = "it is added to an address"
    BOUND = "it bounds the indices of a block"
    BOUND_OF_POSITION = "it bounds a position"
    TRIPS = "it is the number of a loop's turns"
    SHAPE = "it is an extent or a stride of a tensor in memory"
    DIVIDES = "indices are divided by it"
    DIVIDES_POSITION = "a position is divided by it"
    ARITHMETIC = "results are divided by it"
    RESULT = "memory has one element for each block of this size"
    NUMBERED = "the data numbers blocks of this size"
    COUNTED = "another parameter says how many blocks of this size there are"
    REDUCED = "what is stored was reduced over a block of this size"
    ORDER = "it orders the blocks"
    SHARES = "it divides the work among blocks"
    TENSOR = "it is the extent of a tensor"
    BUFFERS = "it is a number of buffers"
    PIPELINE = "it steers the compiler"
    DTYPE = "it is an element type"
    LAYOUT = "it is a layout"
    CONDITION = "a condition reads it"
    MODE = "it is compared with constants or chosen from a fixed set"
    COVERS = "the host rounds another size up to it"
    TUNED = "an autotuner chooses it"


@dataclass(frozen=True, slots=True)
class Note:
    """A use, at a line of the file. ``by`` is what masks the access, "" where nothing does."""

    use: ParameterUse
    line: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """An address of global memory. ``bounds``: comparisons of its mask. ``path``: the branches it is in, each an ``if``
    and which way."""

    terms: Sum
    line: int
    bounds: frozenset[tuple[Sum, Sum]] = frozenset()
    path: frozenset[tuple[int, bool]] = frozenset()

    @property
    def base(self) -> frozenset[str]:
        """The parameters that are added as they are: the pointer among them."""
        return frozenset(term[0].key for term in self.terms if len(term) == 1 and term[0].kind == NAME)

    def excludes(self, other: MemoryAccess) -> bool:
        """The two are in different branches of one condition."""
        return any((condition, not way) in other.path for condition, way in self.path)

    def masked_by(self, atom: Atom) -> str:
        """The size that a range is compared with, as far as it is another than the range's own extent."""
        own = names(atom.extent or NUMBER)
        for pair in self.bounds:
            for side, other in (pair, pair[::-1]):
                if not any(part.key == atom.key for part in every(side)) or ranges(other):
                    continue
                if sizes := names(other) - own:
                    return ", ".join(sorted(sizes))
                if any(part.kind == LOADED for part in every(other)):
                    return "a loaded size"
        return ""


@dataclass(frozen=True, slots=True)
class LoopStart:
    """A loop that begins where its block does: at a position times a size, to an end that the size decides too."""

    sizes: frozenset[str]
    position: tuple[Atom, ...]
    line: int


@dataclass(slots=True)
class ParameterUses:
    """All uses of one kernel's parameters, and its accesses, in the order of execution. ``constexprs``: those that are
    annotated so."""

    constexprs: frozenset[str] = frozenset()

    notes: dict[str, list[Note]] = field(default_factory=dict)
    accesses: list[MemoryAccess] = field(default_factory=list)
    starts: list[LoopStart] = field(default_factory=list)
    indices: list[MemoryAccess] = field(default_factory=list)
    """Sums that are compared, as an address would be: they show steps, and nothing else."""

    @property
    def moves(self) -> bool:
        """The grid or a loop moves what is accessed: there is more than one block."""
        kinds = {atom.kind for access in self.accesses for atom in every(access.terms)}
        return bool(kinds & {GRID, LOOP})

    def add(self, parameters: Iterable[str], use: ParameterUse, line: int, by: str = "") -> None:
        """Record a use once for each of the parameters."""
        note = Note(use, line, by)
        for parameter in parameters:
            notes = self.notes.setdefault(parameter, [])
            if note not in notes:
                notes.append(note)

    def of(self, parameter: str, *kinds: ParameterUse) -> list[Note]:
        """The recorded uses of these kinds."""
        return [note for note in self.notes.get(parameter, ()) if note.use in kinds]
