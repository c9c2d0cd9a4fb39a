"""Violations of an ``mma.sync`` instruction.

All instructions are filtered parameter by parameter, beginning with those that a caller can change least. A parameter
that leaves no instruction is reported, and the search continues without it, so that each mistake is reported once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import product
from typing import Any

from triage.legality.dtypes import DType
from triage.legality.mma.forms import FORMS, MMA, InstructionForm
from triage.legality.violation import Value, Violation, refuse, spoken
from triage.model.gpus import ARCHITECTURES
from triage.model.target import Target

CAPABILITIES = tuple(int(row.name) for row in ARCHITECTURES if row.backend == "cuda" and row.block is not None)
"""Compute capabilities (times ten) that a violation may name as allowed: those of which the limits are known."""


@dataclass(frozen=True, slots=True)
class MmaInstruction:
    """One instruction, types by name: what follows ``mma.sync.aligned``. ``kind``, ``scale`` and ``op`` are "none"
    and ``scale_vec`` is 0 where they are not written."""

    sparse: bool
    a: str
    b: str
    kind: str
    scale: str
    scale_vec: int
    m: int
    n: int
    k: int
    d: str
    c: str
    a_layout: str
    b_layout: str
    op: str


_ORDER = tuple(field.name for field in fields(MmaInstruction))
_LABEL = {
    "a": "A of {}",
    "b": "B of {}",
    "c": "C of {}",
    "d": "D of {}",
    "m": "m={}",
    "n": "n={}",
    "k": "k={}",
    "kind": ".kind::{}",
    "scale": "a block scale of {}",
    "scale_vec": ".scale_vec::{}X",
    "a_layout": "A .{}",
    "b_layout": "B .{}",
    "op": "bit operation {}",
}
_ABSENT = {"kind": "no .kind", "scale": "no block scale", "scale_vec": "no .scale_vec", "op": "no bit operation"}


def default_accumulator(a: str) -> str:
    """The accumulator that every shape of a type has: f64 for f64, s32 for integers and bits, else f32."""
    if a == "f64":
        return "f64"
    return "s32" if a[0] in "su" or a == "b1" else "f32"


def violations(
    *,
    a: DType,
    b: DType | None = None,
    c: DType | None = None,
    d: DType | None = None,
    m: int,
    n: int,
    k: int,
    a_layout: str = "row",
    b_layout: str = "col",
    sparse: bool = False,
    kind: str | None = None,
    scale: DType | None = None,
    scale_vec: int | None = None,
    op: str | None = None,
    target: Target,
) -> list[Violation]:
    """Violations of ``mma.sync.aligned.mMnNkK.A_LAYOUT.B_LAYOUT.D.A.B.C``, in elements; empty when it is legal.

    Types that are left out follow from ``a``. ``sparse`` is ``mma.sp::ordered_metadata``; ``kind`` is one of ``KINDS``;
    ``scale`` is the type of block scales (ue8m0, ue4m3), which makes it ``.block_scale``, ``scale_vec`` the 1, 2 or 4
    of ``.scale_vec``; ``op`` is ``xor`` or ``and`` for b1. Targets are what Triton assembles for: sm_90a, sm_100a and
    so on (kinds exist on the architecture-specific and family targets only). Source: PTX ISA, mma and mma.sp, as the
    assemblers of Triton 3.9.0 read them (``forms`` says where they differ).
    """
    types = {"a": a, "b": b, "c": c, "d": d}
    shape = {"m": m, "n": n, "k": k, "a_layout": a_layout, "b_layout": b_layout, "sparse": sparse}
    qualifiers = {
        "kind": kind or "none",
        "scale": str(scale or "none"),
        "scale_vec": scale_vec or 0,
        "op": op or "none",
    }
    stated = {name: str(dtype) for name, dtype in types.items() if dtype is not None}
    asked = _Request({**stated, **shape, **qualifiers})
    capability = target.capability or 0
    if legal(asked.instruction(), capability):
        return []
    if capability < CAPABILITIES[0]:
        targets = tuple(f"cuda:{number}" for number in CAPABILITIES if legal(asked.instruction(), number))
        return [refuse("mma.target", str(target), targets, MMA, f"{target} has no mma.sync: it came with cuda:70")]
    return _blamed(asked, capability, target)


@cache
def instructions() -> dict[MmaInstruction, tuple[InstructionForm, ...]]:
    """Every instruction of any target, with the forms that have it, documented ones first."""
    by_instruction: dict[MmaInstruction, tuple[InstructionForm, ...]] = {}
    for form in FORMS:
        for (a, b), (m, n, k), (d, c), (al, bl), (vec, scale), kind, op in product(
            form.pairs, form.shapes, form.accumulators, form.layouts, form.scales, form.kinds, form.ops
        ):
            row = MmaInstruction(form.sparse, a, b, kind, scale, vec, m, n, k, d, c, al, bl, op)
            by_instruction[row] = (*by_instruction.get(row, ()), form)
    return by_instruction


@cache
def _on(capability: int) -> tuple[MmaInstruction, ...]:
    return tuple(row for row, forms in instructions().items() if any(form.on(capability) for form in forms))


@cache
def _values(name: str) -> tuple[Value, ...]:
    """Every value of a field that some instruction has."""
    return tuple(sorted({getattr(instruction, name) for instruction in instructions()}))


def form_of(instruction: MmaInstruction, capability: int) -> InstructionForm | None:
    """The form that makes an instruction legal on a target, or None."""
    return next((form for form in instructions().get(instruction, ()) if form.on(capability)), None)


def legal(instruction: MmaInstruction, capability: int) -> bool:
    """Whether the assembler takes it."""
    return form_of(instruction, capability) is not None


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of ``violations`` by field; omitted types are absent, so that defaults follow other changes."""

    stated: Mapping[str, Any]

    def instruction(self, **changed: Value) -> MmaInstruction:
        """The instruction, with defaults and with fields changed."""
        stated = {**self.stated, **changed}
        d = stated.get("d", default_accumulator(stated["a"]))
        return MmaInstruction(**{"b": stated["a"], "d": d, "c": d, **stated})


def _blamed(asked: _Request, capability: int, target: Target) -> list[Violation]:
    instruction = asked.instruction()
    left: Sequence[MmaInstruction] = _on(capability)
    anywhere: Sequence[MmaInstruction] = tuple(instructions())
    broken: list[Violation] = []
    for name in _ORDER:
        value = getattr(instruction, name)
        narrowed = [row for row in left if getattr(row, name) == value]
        elsewhere = [row for row in anywhere if getattr(row, name) == value]
        if narrowed:
            left, anywhere = narrowed, elsewhere
            continue
        # An omitted type defaults to A (C to D): if A is wrong, one violation is enough.
        if name in asked.stated or not broken:
            broken.append(_violation(asked, name, left, elsewhere, capability, target))
        # The other parameters are compared with targets that have this value, or without it if none has.
        if elsewhere:
            left = anywhere = elsewhere
    return broken


def _violation(
    asked: _Request,
    name: str,
    left: Sequence[MmaInstruction],
    anywhere: Sequence[MmaInstruction],
    capability: int,
    target: Target,
) -> Violation:
    """The violation of one parameter. ``left``: the target's instructions with the preceding parameters; ``anywhere``:
    those of any target that also have this one."""
    value: Value = getattr(asked.instruction(), name)
    allowed = [option for option in _values(name) if legal(asked.instruction(**{name: option}), capability)]
    close = None if name in ("m", "n", "k") else allowed[:2]
    has = sorted({getattr(row, name) for row in left})
    forms = {form for row in anywhere for form in instructions()[row]}
    message = f"{_spoken(name, value)} is not there on {target}{_context(asked, name)}"
    if name == "a" and value == "f32":
        message += ": there is no f32 multiplication, tf32 reads fp32 operands with 10 bits of mantissa"
    elif forms and not any(form.on(capability) for form in forms):
        message += f": it came with cuda:{min(form.since for form in forms)}"
    options = [_ABSENT.get(name, option) if option in ("none", 0) else option for option in has]
    return refuse(f"mma.{name.replace('_', '-')}", value, allowed, MMA, f"{message}; there is {spoken(options)}", close)


def _context(asked: _Request, name: str) -> str:
    """The parameters that precede ``name``, for the message about it."""
    instruction = asked.instruction()
    if name in ("sparse", "a"):
        return ""
    words = f" for {instruction.a}" + (f" by {instruction.b}" if name != "b" and instruction.b != instruction.a else "")
    if name in ("d", "c", "a_layout", "b_layout", "op"):
        words += f" in m{instruction.m}n{instruction.n}k{instruction.k}"
    if name == "n":
        words += f" with m={instruction.m}"
    if name == "k":
        words += f" with m{instruction.m}n{instruction.n}"
    return words + (" with sparse A" if instruction.sparse else "")


def _spoken(name: str, value: Value) -> str:
    if name == "sparse":
        return "mma.sp" if value else "mma"
    if value in ("none", 0) and name in _ABSENT:
        return _ABSENT[name]
    return _LABEL[name].format(value)
