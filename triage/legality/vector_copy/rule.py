"""``triage explain vector-copy``: a plain tile, or a tiled copy of CuTe where its threads are given."""

from dataclasses import replace
from typing import Any

from triage.legality import dtypes
from triage.legality.algebra.integers import is_static, modes
from triage.legality.algebra.operations import NotDivisible
from triage.legality.algebra.partition import thread_values
from triage.legality.explanation import Fact, RuleTable
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.vector_copy import request, tiled
from triage.legality.vector_copy.request import TENSORS, CopyRequest
from triage.legality.vector_copy.tile import PTX, PTX_ASYNC, CopySide, alignment_bits, run, violations, widest, widths
from triage.legality.violation import spoken
from triage.model.errors import InputError

_TRITON = "Triton 3.9.0, lib/Analysis/AxisInfo.cpp and lib/Dialect/TritonGPU/Transforms/CoalesceUtils.cpp"
_FRAGMENT = 256
"""Bytes that a fragment in registers may be taken to be aligned to: more than any vector."""
TITLE = "vector copies: bits a thread moves at once, by contiguity and alignment"


def _judge(args: Arguments) -> Judgement:
    asked = request.read(args, args["bits"])
    return judged(asked, args, args.get("async", False))


def judged(asked: CopyRequest, args: Arguments, asynchronous: bool) -> Judgement:
    """The judgement of a copy, with what may be done instead. Raises InputError."""
    if asked.threads is not None:
        return _tiled(asked, "async" if asynchronous else "universal")
    dtype, target = asked.dtype, args["target"]
    source, destination = (_flat(tensor) for tensor in (asked.source, asked.destination))
    shared = not args.get("registers", False)
    copy: dict[str, Any] = {"dtype": dtype, "source": source, "destination": destination, "target": target}
    broken = violations(bits=asked.bits, asynchronous=asynchronous, shared=shared, **copy)
    length, covered = run(source, destination)
    by_async, best = widest(asynchronous=True, **copy), widest(shared=shared, **copy)
    facts = (
        *request.cost(asked),
        Fact("run_elements", length, "side by side in both", f"{length} elements, {length * dtype.bits} bits"),
        Fact("source_alignment_bits", alignment_bits(source, covered, dtype), "alignment of source", ""),
        Fact("destination_alignment_bits", alignment_bits(destination, covered, dtype), "alignment of destination"),
        Fact("widest_bits", best, "widest through registers", f"{best} bits" if best else "none"),
        Fact("widest_async_bits", by_async, "widest cp.async", f"{by_async} bits" if by_async else "none"),
        _legal("legal_bits", "legal through registers", best, widths(target, shared=shared), dtype.bits),
        _legal("legal_async_bits", "legal cp.async", by_async, widths(target, True), dtype.bits),
    )
    facts += request.staged(asked, widest(**{**copy, "destination": source}), best)
    name = "cp.async" if asynchronous else "copy through registers"
    return Judgement(
        f"{name} of {asked.bits} bits of {dtype} on {target}",
        broken,
        facts,
        drawings=request.drawings(asked),
        notes=_NOTES,
        alternatives=_alternatives(asked),
    )


def _legal(name: str, label: str, most: int, instructions: tuple[int, ...], least: int) -> Fact:
    """Every width up to the widest is legal: all are powers of two."""
    legal = [bits for bits in instructions if least <= bits <= most]
    return Fact(name, legal, label, f"{spoken(tuple(legal))} bits" if legal else "none")


def _flat(tensor: tiled.CopyTensor) -> CopySide:
    layout = tensor.layout
    if not is_static(layout.shape) or any(isinstance(part, tuple) for part in modes(layout.shape)):
        raise InputError("nested and dynamic extents are those of a tiled copy: give --threads")
    strides = tuple(stride if isinstance(stride, int) else stride.divisor for _, stride in layout.flat)
    return CopySide(tuple(int(str(extent)) for extent, _ in layout.flat), strides, tensor.alignment)


def _alternatives(asked: CopyRequest) -> list[tuple[str, dict[str, Any]]]:
    source = tuple(stride for _, stride in asked.source.layout.flat if isinstance(stride, int))
    changes: list[tuple[str, dict[str, Any]]] = [
        ("the destination laid out as the source", {"destination_strides": source}),
        (f"through registers, {asked.dtype.bits} bits at a time", {"bits": asked.dtype.bits, "async": False}),
    ]
    if asked.dtype.bits < 32:
        changes.append(("32-bit elements, one a request", {"dtype": dtypes.parse("f32"), "bits": 32}))
    return changes


def _tiled(asked: CopyRequest, atom: str) -> Judgement:
    assert asked.threads is not None
    sides = {"source": asked.source, "destination": asked.destination}
    copy: dict[str, Any] = {**sides, "dtype": asked.dtype, "threads": asked.threads, "values": asked.values}
    broken = tiled.violations(bits=asked.bits, atom=atom, **copy)
    facts = [*request.cost(asked), *_partitioned(asked, atom, not broken)]
    for other, label in (("universal", "legal for CopyUniversalOp"), ("async", "legal for cpasync.CopyG2SOp")):
        bits = tiled.legal_bits(atom=other, **copy)
        facts.append(Fact(f"legal_{other}_bits", list(bits), label, f"{spoken(bits)} bits" if bits else "none"))
    # Fragments are laid out as the side that they are copied from or to, and aligned.
    loaded = replace(asked.source, space="rmem", alignment=_FRAGMENT)
    stored = replace(asked.destination, space="rmem", alignment=_FRAGMENT)
    loads = tiled.legal_bits(**{**copy, "destination": loaded})
    stores = tiled.legal_bits(**{**copy, "source": stored})
    facts += request.staged(asked, max(loads, default=0), max(stores, default=0))
    name = "CopyUniversalOp" if atom == "universal" else "cpasync.CopyG2SOp"
    return Judgement(
        f"{name} of {asked.bits} bits of {asked.dtype}, threads {asked.threads}, values {asked.values}",
        broken,
        facts,
        drawings=request.drawings(asked),
        sources=(tiled.SOURCE,),
        alternatives=_tiled_alternatives(asked),
    )


def _partitioned(asked: CopyRequest, atom: str, legal: bool) -> list[Fact]:
    """Each side's vector and alignment, and what a legal copy is made of; none where threads and values do not
    partition the sides."""
    assert asked.threads is not None
    try:
        copy = thread_values(asked.threads, asked.values)
        tensors = {"source": asked.source, "destination": asked.destination}
        parts = {name: tiled.thread_vector(side, copy, asked.count, asked.dtype) for name, side in tensors.items()}
    except NotDivisible:
        return []
    facts = []
    for name, part in parts.items():
        shown = str(part.values) if part.values is not None else "swizzled still"
        facts.append(Fact(f"{name}_share", shown, f"a thread's {name}"))
        facts.append(Fact(f"{name}_alignment_bits", part.alignment, f"alignment of {name}"))
    least = min(part.alignment for part in parts.values())
    if legal and least < asked.bits:
        text = f"{least} bits: the verifier asks for one side's alignment only, the instructions need both"
        facts.append(Fact("issued_bits", least, "made with", text))
    scattered = [name for name, part in parts.items() if not part.contiguous]
    if legal and scattered:
        words = " and ".join(scattered)
        text = f"not in the {words}: the verifier does not ask, and cp.async moves {asked.bits // 8} adjacent bytes"
        if atom == "universal":
            text = f"not known of the {words}: copied element by element"
        facts.append(Fact("contiguous", False, "vector contiguous", text))
    return facts


def _tiled_alternatives(asked: CopyRequest) -> list[tuple[str, dict[str, Any]]]:
    rank, layout = asked.source.layout.rank, asked.source.layout
    changes: list[tuple[str, dict[str, Any]]] = []
    for mode in range(rank):
        values = request.vector_along(rank, mode, asked.count)
        changes.append((f"value layout {values}", {"values": values}))
    changes.append(("the destination laid out as the source", {"destination": layout}))
    own = {"bits": asked.dtype.bits, "async": False, "values": request.vector_along(rank, 0, 1)}
    changes.append((f"CopyUniversalOp of {asked.dtype.bits} bits, value layout (1,…)", own))
    single = {"dtype": dtypes.parse("f32"), "bits": 32, "values": request.vector_along(rank, 0, 1)}
    changes.append(("32-bit elements, one a request", single))
    return changes


_NOTES = (
    "Transposed means that source and destination are contiguous along different dimensions: then one element is the "
    "widest vector, 16 bits of bf16, and cp.async (4 bytes) needs elements of 32 bits.",
    "Triton knows alignment from tt.divisibility of pointers and strides (16 for what torch allocates): where the "
    "stride of bf16 rows is not known to be even, a row may start anywhere, and vectors are one element wide.",
)


def _tables(args: Arguments) -> list[RuleTable]:
    rows = (
        ("ld.global, st.global", "8, 16, 32, 64, 128", "cuda:100 on: 256 (.v8.b32, .v4.b64)"),
        ("ld.shared, st.shared", "8, 16, 32, 64, 128", ""),
        ("cp.async.ca", "32, 64, 128", "cuda:80 on"),
        ("cp.async.cg", "128", "cuda:80 on"),
    )
    atoms = (
        ("CopyUniversalOp", "powers of 2 from 8 on", "source; destination where the source is in registers", "yes"),
        ("cpasync.CopyG2SOp", "32, 64, 128", "source and destination", "no"),
    )
    columns = ("atom", "bits", "alignment asked of", "vectors contiguous")
    return [
        RuleTable(TITLE, ("instruction", "bits, and alignment", "targets"), rows),
        RuleTable("Copy atoms of CuTe DSL: what its verifier asks", columns, atoms, (tiled.SOURCE,)),
    ]


RULE = LegalityRule(
    "vector-copy",
    TITLE,
    (
        RuleParameter("bits", Syntax.INTEGER, "bits a thread copies at once", required=True),
        RuleParameter("dtype", Syntax.DTYPE, "type of elements", required=True),
        *TENSORS,
        RuleParameter("async", Syntax.FLAG, "with cp.async"),
        RuleParameter("registers", Syntax.FLAG, "between global memory and registers, no shared memory"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:80"),
    ),
    _judge,
    _tables,
    (
        "--bits 128 --dtype bf16",
        "--bits 128 --dtype bf16 --source-strides 1x64",
        "--bits 16 --dtype bf16 --source-strides 1x64 --async",
        "--bits 128 --dtype f16 --source-strides 100x1",
        "--bits 128 --dtype bf16 --shape 128,64 --stride 64,1",
        "--bits 128 --dtype bf16 --shape 128,64 --stride 1,128 --async --threads '(16,16):(16,1)'",
        "--bits 128 --dtype f16 --source '(128,64):(?{8},1)' --destination '(128,64):(64,1)' --swizzle 3,3,3 "
        "--threads '(16,8):(8,1)' --async",
    ),
    (PTX, PTX_ASYNC, _TRITON),
    _NOTES,
)
