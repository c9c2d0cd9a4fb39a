"""Load a matrix operand with its axes exchanged, and use its transpose: K-major in shared memory instead of MN-major.

wgmma reads operands of other than 16-bit types K-major only (PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b
are for .f16 and .bf16), and Triton's tcgen05 lowering asks the same of fp32. A tile keeps in shared memory the
order in which it was loaded, so the load decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from triage.model.case import Language
from triage.source.module import Edit, argument, called, uses
from triage.suggest.rewrites.access import Exchange, exchange, is_load
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import binders

_WHY = (
    "the operand is K-major in shared memory then, the one order that wgmma reads for types of other than 16 bits "
    "(PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b are for .f16 and .bf16)"
)


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand of a dot: ``A`` or ``B``, the loads behind it (one for each way on which its name gets a value), and
    the transposition on the way, if any, of ``inner``."""

    letter: str
    loads: tuple[ast.Call, ...]
    transposition: ast.expr | None = None
    inner: ast.expr | None = None

    @property
    def k_major(self) -> bool:
        """True where the loaded tile's rows run along K. A load is contiguous along its last axis."""
        return (self.transposition is None) == (self.letter == "A")


def operand_transposed(subject: Subject) -> Iterator[Rewritten]:
    """All MN-major operands of the kernel's dots loaded the other way round; then each alone where there are two."""
    if subject.scene.case.language is not Language.TRITON:
        return  # Gluon's layouts say how a tile lies in shared memory, and would have to change as well.
    found = [operand for operand in _operands(subject) if not operand.k_major]
    choices = [found] if len(found) == 1 else [found, *([operand] for operand in found)]
    for chosen in choices:
        if chosen and (rewritten := _rewritten(subject, chosen)) is not None:
            yield rewritten


def _operands(subject: Subject) -> list[_Operand]:
    found: dict[int, _Operand] = {}
    for dot in ast.walk(subject.kernel):
        if called(dot) not in ("dot", "dot_scaled") or not isinstance(dot, ast.Call):
            continue
        places = (("A", 0, ("input", "lhs")), ("B", 1 if called(dot) == "dot" else 3, ("other", "rhs")))
        for letter, place, names in places:
            operand = _behind(subject, letter, argument(dot, place, *names))
            if operand is not None:
                found.setdefault(id(operand.loads[0]), operand)
    return list(found.values())


def _behind(subject: Subject, letter: str, value: ast.expr | None) -> _Operand | None:
    """Follow names, transpositions and casts from a dot's operand to its loads."""
    transposition: ast.expr | None = None
    inner: ast.expr | None = None
    for _ in range(8):
        if value is None:
            return None
        if is_load(subject, value) and isinstance(value, ast.Call):
            return _Operand(letter, (value,), transposition, inner)
        under = transposed(value)
        if under is not None:
            if transposition is not None:
                return None
            transposition, inner, value = value, under, under
        elif isinstance(value, ast.Name):
            made = binders(subject.kernel, value.id)
            if len(made) > 1:
                # Loaded before a loop and again in it, say: by loads alone, or not at all.
                loads = tuple(one for one in made if isinstance(one, ast.Call) and is_load(subject, one))
                return _Operand(letter, loads, transposition, inner) if len(loads) == len(made) else None
            value = made[0] if made else None
        elif called(value) == "to" and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            value = value.func.value
        else:
            return None
    return None


def transposed(node: ast.expr) -> ast.expr | None:
    """What is transposed by ``x.T``, ``x.trans()``, ``tl.trans(x)`` or ``tl.permute(x, (1, 0))``; else None."""
    match node:
        case ast.Attribute(value=value, attr="T"):
            return value
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="trans"), args=[value]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="trans"), args=[]):
            return value
        case ast.Call(func=ast.Attribute(attr="permute" | "trans"), args=[value, *axes]):
            numbers = [child.value for axis in axes for child in ast.walk(axis) if isinstance(child, ast.Constant)]
            return value if numbers == [1, 0] else None
    return None


def _rewritten(subject: Subject, operands: list[_Operand]) -> Rewritten | None:
    module = subject.module
    edits: list[Edit] = []
    exchanges: list[Exchange] = []
    toggled: dict[int, ast.Call] = {}
    for load in (load for operand in operands for load in operand.loads):
        found = exchange(subject, load)
        if found is None:
            return None
        exchanges.append(found)
        edits += found.edits
        toggled |= {id(call): call for call in found.toggled}
    for operand in operands:
        if (dropped := _dropped(subject, operand)) is not None:
            edits += dropped
            toggled.pop(id(operand.loads[0]), None)
    # Every other load that now gives the exchanged tile gives what it did before with .T.
    edits += [module.after(call, ".T") for call in toggled.values()]
    text = module.edited(edits)
    if text is None:
        return None
    letters = " and ".join(dict.fromkeys(operand.letter for operand in operands))
    stored = [found for found in exchanges if found.stored_transposed]
    return Rewritten(
        text,
        f"load {letters} with its axes exchanged and use the transpose in tl.dot, so that it is K-major",
        _WHY,
        caller=_caller(stored, letters),
        changes=dict(chain.from_iterable(found.signature.items() for found in stored)),
        transposed=tuple(dict.fromkeys(found.argument for found in stored if found.argument)),
    )


def _caller(stored: list[Exchange], letters: str) -> str:
    if not stored:
        return ""
    names = " and ".join(dict.fromkeys(found.argument or letters for found in stored))
    caller = f"{names} must hold the transposed matrix, contiguous along K (made once, with .T.contiguous())"
    strides = list(dict.fromkeys(chain.from_iterable(found.strides for found in stored)))
    if strides:
        caller += f"; {' and '.join(strides)}: the row stride of that matrix"
    if any(found.host_block for found in stored):
        caller += "; where the host makes its descriptor (Triton up to 3.3), with the extents of the block exchanged"
    blocks = dict(chain.from_iterable(found.signature.items() for found in stored))
    if blocks:
        caller += "; its descriptor with the block " + ", ".join(
            type_.partition("[")[2].partition("]")[0] for type_ in blocks.values()
        )
    return caller


def _dropped(subject: Subject, operand: _Operand) -> tuple[Edit, Edit] | None:
    """The edits that drop a transposition which undoes the exchange: where it is of the load itself, or of a name
    that holds the load's value and is read nowhere else."""
    around, inner, load = operand.transposition, operand.inner, operand.loads[0]
    if around is None or inner is None or len(operand.loads) > 1:
        return None
    if inner is not load:
        if not isinstance(inner, ast.Name) or binders(subject.kernel, inner.id) != [load]:
            return None
        if len(uses(subject.kernel, inner.id)) != 1:
            return None
    module = subject.module
    (start, end), (inner_start, inner_end) = module.span(around), module.span(inner)
    return Edit(start, inner_start, ""), Edit(inner_end, end, "")
