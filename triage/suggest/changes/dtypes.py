"""Element types: dtype constexprs, the pointers the caller passes, and both together.

Types that hold all values of the data come first: every target has fp32, fewer have bf16, and rules for fp8 differ
between targets. All pointers of one element type change together first, since operands must often have equal types;
then those that are loaded from, then each alone.
"""

from collections.abc import Iterator, Mapping

from triage.source.dtypes import dtype_text, element_type, language_dtype, loss
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_SAFER: Mapping[str, tuple[str, ...]] = {
    "fp8": ("fp16", "bf16", "fp32", "fp8e5", "fp8e4nv"),
    "bf16": ("fp32", "fp16"),
    "fp16": ("fp32", "bf16", "fp64"),
    "fp32": ("fp64", "fp16", "bf16"),
    "fp64": ("fp32",),
    "i1": ("i8", "i32"),
    "i8": ("i32", "i16", "i64", "fp16"),
    "u8": ("i32", "u32", "i8"),
    "i16": ("i32", "fp32", "i64", "i8", "fp16"),
    "u16": ("u32", "i32"),
    "i32": ("i64", "fp32"),
    "u32": ("i64", "i32"),
    "i64": ("i32",),
    "u64": ("i64", "i32"),
}
"""What to try in place of an element type, the likeliest to be supported first among those that lose nothing, and
among those that do. fp64 inputs are chosen for their precision, so no 16-bit type replaces them."""
_LOSSY = 0.3
"""Penalty of a type that cannot hold the data where another type can: it sorts behind that type, whatever the message
offers."""


def alternatives(scene: Scene, dtype: str) -> list[str]:
    """Types to try in place of a type: those that lose nothing, then the others; of each, those that the message offers
    first."""
    usual = _SAFER.get("fp8" if dtype.startswith("fp8") else dtype, ())
    known = {*usual, *_SAFER}
    offered = [t for t in scene.evidence.offered if t in known or t.startswith("fp8e")]
    if dtype.startswith("fp8") or not offered:
        ordered = [*offered, *usual]
    else:
        ordered = [t for t in usual if t in offered] + [t for t in usual if t not in offered]
    # A type that the message names without offering it is the one it does not want, or the other side of a mismatch:
    # the latter is worth trying, so it only keeps its place.
    others = [t for t in dict.fromkeys(ordered) if t != dtype]
    return sorted(others, key=lambda other: bool(loss(dtype, other)))


def dtypes(scene: Scene) -> Iterator[Proposal]:
    """All changes of element types."""
    pointers = _pointers(scene)
    for name, value in scene.case.constexprs.items():
        dtype = dtype_text(value)
        if dtype is not None:
            yield from _constexpr(scene, name, value, dtype, pointers)
    for dtype, names in pointers.items():
        yield from _data(scene, dtype, names)
    yield from _common(scene, pointers)
    yield from _scalars(scene)


def _pointers(scene: Scene) -> dict[str, list[str]]:
    """Pointer (and descriptor) arguments by element type."""
    names: dict[str, list[str]] = {}
    for name, type_ in scene.case.signature.items():
        if isinstance(type_, str) and type_.startswith(("*", "tensordesc<")) and not type_.startswith("*k"):
            names.setdefault(element_type(type_), []).append(name)
    return names


def _retyped(type_: str, element: str) -> str:
    if type_.startswith("*"):
        return f"*{element}"
    return f"tensordesc<{element}[{type_.split('[', 1)[1]}"


def _suspicion(scene: Scene, dtype: str) -> float:
    """How much earlier a type is worth changing: named in the message, or one that few back ends support well."""
    if dtype in scene.evidence.dtypes:
        return -1.1 if scene.evidence.refused else -0.7
    thin = dtype.startswith("fp8") or dtype in ("i1", "u8", "i8", "fp64", "bf16")
    return -0.6 if thin and (scene.evidence.backend or scene.evidence.dtypes) else 0.0


def _instead(scene: Scene, dtype: str, other: str) -> float:
    """The message refuses one type and offers another; what loses values comes late all the same."""
    if loss(dtype, other) and any(not loss(dtype, exact) for exact in alternatives(scene, dtype)):
        return _LOSSY
    return -1.0 if dtype in scene.evidence.dtypes and other in scene.evidence.offered else 0.0


def _constexpr(
    scene: Scene, name: str, value: str, dtype: str, pointers: Mapping[str, list[str]]
) -> Iterator[Proposal]:
    for index, other in enumerate(alternatives(scene, dtype)):
        prior = 1.5 + 0.3 * index + _suspicion(scene, dtype) + _instead(scene, dtype, other)
        prefix, dot, _ = value.rpartition(".")
        changes = {name: f"{prefix}.{language_dtype(other)}" if dot else other}
        yield Proposal(changes, Move.DTYPE, prior, 3, f"{name} in {other}")
        if names := pointers.get(dtype):
            joint = {**changes, **{p: _retyped(scene.case.signature[p], other) for p in names}}
            why = f"{name} and {', '.join(names)} in {other}: changes the data the caller passes"
            yield Proposal(joint, Move.DATA, prior + 0.5, 5, why)


def _data(scene: Scene, dtype: str, names: list[str]) -> Iterator[Proposal]:
    signature = scene.case.signature
    sets = [names]
    only_loaded = [name for name in names if name not in scene.source.stored and not _is_result(name)]
    if only_loaded and only_loaded != names:
        sets.append(only_loaded)
    if len(names) > 1:
        sets += [[name] for name in names if [name] != only_loaded]
    for index, other in enumerate(alternatives(scene, dtype)):
        for order, together in enumerate(sets):
            changes = {name: _retyped(signature[name], other) for name in together}
            why = f"{', '.join(together)} in {other}: changes the data the caller passes"
            alone = 1.0 if order and together != only_loaded else 0.25 * order
            prior = 2.3 + 0.35 * index + alone + _suspicion(scene, dtype) + _instead(scene, dtype, other)
            yield Proposal(scene.with_layouts(changes), Move.DATA, prior, 4 + 0.2 * len(together), why)


def _is_result(name: str) -> bool:
    """Names by which kernels call what they write; pointer arithmetic hides it from the syntax tree."""
    stem = name.lower().removesuffix("_ptr").removesuffix("ptr")
    return stem in ("c", "o", "y", "z", "out", "output", "dst", "result", "res") or stem.startswith("out")


def _common(scene: Scene, pointers: Mapping[str, list[str]]) -> Iterator[Proposal]:
    """All floating-point inputs in one type, where they differ: operands of one product must be equal."""
    floats: dict[str, list[str]] = {}
    for element, names in pointers.items():
        inputs = [name for name in names if name not in scene.source.stored and not _is_result(name)]
        if "f" in element and inputs:
            floats[element] = inputs
    if len(floats) < 2:
        return
    for index, element in enumerate(sorted(floats, key=lambda t: (t.startswith("fp8"), -len(floats[t])))):
        changes = {n: _retyped(scene.case.signature[n], element) for t in floats if t != element for n in floats[t]}
        prior = 2.4 + 0.2 * index - (0.8 if len(scene.evidence.dtypes) > 1 else 0)
        prior += _LOSSY if any(loss(other, element) for other in floats) else 0
        why = f"every input in {element}: changes the data the caller passes"
        yield Proposal(scene.with_layouts(changes), Move.DATA, prior, 4 + 0.2 * len(changes), why)


def _scalars(scene: Scene) -> Iterator[Proposal]:
    """Scalar arguments: 64-bit and 16-bit ones in 32 bits."""
    usual = {"i64": "i32", "u64": "i64", "fp64": "fp32", "fp16": "fp32", "bf16": "fp32", "i1": "i32", "i8": "i32",
             "fp32": "i32"}  # fmt: skip
    by_type: dict[str, list[str]] = {}
    for name, type_ in scene.case.signature.items():
        if type_ in usual:
            by_type.setdefault(type_, []).append(name)
    for type_, names in by_type.items():
        changes = dict.fromkeys(names, usual[type_])
        why = f"{', '.join(names)} in {usual[type_]}: changes the data the caller passes"
        yield Proposal(changes, Move.DATA, 3.0 + _suspicion(scene, type_), 4, why)
