"""Load a matrix operand with its axes exchanged, and use its transpose: K-major in shared memory instead of MN-major.

wgmma reads operands of other than 16-bit types K-major only (PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b
are for .f16 and .bf16), and Triton's tcgen05 lowering asks the same of fp32. A tile keeps in shared memory the
order in which it was loaded, so the load decides.
"""

import ast
from collections.abc import Iterator
from itertools import chain

from triage.frontends.frontend import frontend
from triage.source.module import Edit, uses
from triage.suggest.rewrites.access import Exchange, exchange
from triage.suggest.rewrites.operands import DotOperand, operands
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import binders

_WHY = (
    "the operand is K-major in shared memory then, the one order that wgmma reads for types of other than 16 bits "
    "(PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b are for .f16 and .bf16)"
)


def operand_transposed(subject: Subject) -> Iterator[Rewritten]:
    """All MN-major operands of the kernel's dots loaded the other way round; then each alone where there are two."""
    if not frontend(subject.scene.case.language).has_tiles:
        return  # Gluon's layouts say how a tile lies in shared memory, and would have to change as well.
    mn_major = [operand for operand in operands(subject) if not operand.k_major]
    choices = [mn_major] if len(mn_major) == 1 else [mn_major, *([operand] for operand in mn_major)]
    for chosen in choices:
        if chosen and (rewritten := _rewritten(subject, chosen)) is not None:
            yield rewritten


def _rewritten(subject: Subject, chosen: list[DotOperand]) -> Rewritten | None:
    module = subject.module
    edits: list[Edit] = []
    exchanges: list[Exchange] = []
    toggled: dict[int, ast.Call] = {}
    for load in (load for operand in chosen for load in operand.loads):
        exchanged = exchange(subject, load)
        if exchanged is None:
            return None
        exchanges.append(exchanged)
        edits += exchanged.edits
        toggled |= {id(call): call for call in exchanged.toggled}
    for operand in chosen:
        if (dropped := _dropped(subject, operand)) is not None:
            edits += dropped
            toggled.pop(id(operand.loads[0]), None)
    # Every other load that now gives the exchanged tile gives what it did before with .T.
    edits += [module.after(call, ".T") for call in toggled.values()]
    text = module.edited(edits)
    if text is None:
        return None
    letters = " and ".join(dict.fromkeys(operand.letter for operand in chosen))
    stored = [exchanged for exchanged in exchanges if exchanged.stored_transposed]
    return Rewritten(
        text,
        f"load {letters} with its axes exchanged and use the transpose in tl.dot, so that it is K-major",
        _WHY,
        caller=_caller(stored, letters),
        changes=dict(chain.from_iterable(exchanged.signature.items() for exchanged in stored)),
        transposed=tuple(dict.fromkeys(exchanged.argument for exchanged in stored if exchanged.argument)),
    )


def _caller(stored: list[Exchange], letters: str) -> str:
    if not stored:
        return ""
    names = " and ".join(dict.fromkeys(exchanged.argument or letters for exchanged in stored))
    caller = f"{names} must hold the transposed matrix, contiguous along K (made once, with .T.contiguous())"
    strides = list(dict.fromkeys(chain.from_iterable(exchanged.strides for exchanged in stored)))
    if strides:
        caller += f"; {' and '.join(strides)}: the row stride of that matrix"
    if any(exchanged.host_block for exchanged in stored):
        caller += "; where the host makes its descriptor (Triton up to 3.3), with the extents of the block exchanged"
    blocks = dict(chain.from_iterable(exchanged.signature.items() for exchanged in stored))
    if blocks:
        caller += "; its descriptor with the block " + ", ".join(
            type_.partition("[")[2].partition("]")[0] for type_ in blocks.values()
        )
    return caller


def _dropped(subject: Subject, operand: DotOperand) -> tuple[Edit, Edit] | None:
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
