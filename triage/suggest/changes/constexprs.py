"""Constexprs that are neither tile sizes, element types nor layouts: flags, numbers and texts.

Flags are flipped: kernels choose between two implementations by a flag, and the other one often compiles. A flag that
asks for warp specialization is the likeliest culprit wherever it is on.

Numbers are modes, pipeline depths and widths of a register operand. Modes are compared with literals in the source,
and those are the values worth trying. Depths of a pipeline behave as ``num_stages``.

Texts are enumerations, operand formats and assembly constraints. Other values of an enumeration are those that the
message offers, that the kernel tests for, or that the language defines. A value that no branch tests for takes the
``else`` branch, which is most often "do nothing special": it is spelled ``none``, as a reader expects.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from triage.source.dtypes import dtype_text
from triage.source.roles import RoleKind
from triage.suggest.changes.tiles import is_power_of_two, tiles
from triage.suggest.layout_text import parse
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_SPECIALIZE = re.compile(r"(?:\A|_)WS(?:\Z|_)|SPECIALI[ZS]E", re.IGNORECASE)
_WIDTH = re.compile(r"K_?WIDTH|\AVEC", re.IGNORECASE)
_DEPTH = re.compile(r"STAGES?\b|STAGES?\Z|DEPTH", re.IGNORECASE)
_WARPS = re.compile(r"WARPS", re.IGNORECASE)
_REGISTERS = re.compile(r"REGS?\Z|REGISTERS", re.IGNORECASE)
_WIDTHS = (1, 2, 4, 8, 16)
_REGISTER_COUNTS = (24, 40, 80, 128, 168, 232)
"""setmaxnreg takes multiples of 8 from 24 to 256; these are the usual ones."""
_ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "input_precision": ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"),
    "lhs_format": ("bf16", "fp16", "e4m3", "e5m2", "e2m1"),
    "rhs_format": ("bf16", "fp16", "e4m3", "e5m2", "e2m1"),
    "sem": ("relaxed", "acq_rel", "acquire", "release"),
    "scope": ("gpu", "cta", "sys"),
    "cache_modifier": ("", ".ca", ".cg", ".cv"),
    "eviction_policy": ("", "evict_first", "evict_last"),
    "padding_option": ("zero", "nan", ""),
    "fp_downcast_rounding": ("rtne", "rtz"),
}
"""Values by the keyword under which ``triton.language`` takes them (3.9), safest first."""
_CLASSES = {"cuda": "rfhld", "hip": "vs"}
"""Register classes by backend: NVPTX 32-bit, float, 16-bit, 64-bit, double; AMDGPU vector and scalar."""
_ELEMENT = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
"""Formats and the element types that hold them (``tl.dot_scaled``); e2m1 is packed two to a byte."""
_FORMAT_KEYWORDS = {"lhs_format", "rhs_format"}
_FIXED = frozenset({RoleKind.PROBLEM, RoleKind.UNUSED})
"""A size of the problem is never changed, and what the kernel does not read changes nothing."""
_PERHAPS_FLAGS = frozenset({RoleKind.FLAG, RoleKind.UNKNOWN})


def flags(scene: Scene) -> Iterator[Proposal]:
    """Every flag flipped; those that turn warp specialization off first, and all of these together."""
    on: dict[str, bool] = {}
    index = 0
    for name, value in scene.case.constexprs.items():
        # 0 and 1 are flags in kernels that are called from C++ or with heuristics.
        number = type(value) is int and value in (0, 1) and scene.source.kind(name) in _PERHAPS_FLAGS
        if not isinstance(value, bool) and not number:
            continue
        specializes = "warp_specialize" in scene.source.keywords.get(name, ()) or bool(_SPECIALIZE.search(name))
        prior, why = 1.0 + 0.1 * index, f"{name} {'off' if value else 'on'}"
        if value and specializes:
            on[name] = False
            prior, why = -0.2 if scene.evidence.specialization else 0.4, f"without warp specialization ({name})"
        if number or (not value and specializes):
            prior += 0.6
        flipped = int(not value) if number else not value
        # Without specialization the tile and the warps stay as they were tuned: nearer than any other number of them.
        distance = 0.9 if name in on else 2
        yield Proposal({name: flipped}, Move.FLAG, prior, distance, why)
        index += 1
    if len(on) > 1:
        yield Proposal(on, Move.FLAG, 0.6, 2.0 * len(on), "without any warp specialization")


def numbers(scene: Scene) -> Iterator[Proposal]:
    """Single changes of integers that are not tiles."""
    known = tiles(scene)
    for name, value in scene.case.constexprs.items():
        if type(value) is int and name not in known and scene.source.kind(name) not in _FIXED:
            yield from _other_numbers(scene, name, value)


def _other_numbers(scene: Scene, name: str, value: int) -> Iterator[Proposal]:
    for other in scene.source.compared.get(name, ()):
        if type(other) is int and other != value:
            why = f"{name}={other}, which the kernel tests for"
            yield Proposal({name: other}, Move.TEXT, 1.7, 2.5, why)
    move, prior, values = _usual(scene, name, value)
    for index, other in enumerate(other for other in values if other not in (value, 0)):
        yield Proposal({name: other}, move, prior + 0.15 * index, 1.5, f"{name}={other}")


def _usual(scene: Scene, name: str, value: int) -> tuple[Move, float, Iterable[int]]:
    """What the parameter's name and use say it counts, when to try other values, and which."""
    used_as = scene.source.keywords.get(name, set())
    if _WIDTH.search(name) or used_as & {"k_width", "kWidth"}:
        # Wider first: an operand packs at least 32 bits, so too narrow is the common mistake.
        return Move.NUMBER, 0.8, sorted(_WIDTHS, key=lambda width: (width < value, abs(width - value)))
    if _REGISTERS.search(name):
        return Move.NUMBER, 2.0, _REGISTER_COUNTS
    if _DEPTH.search(name) or "num_stages" in used_as:
        return Move.OPTION, 1.3, (2, 1, 3, 4)
    if _WARPS.search(name):
        return Move.OPTION, 1.5, (4, 8, 2, 1)
    return Move.NUMBER, 2.3, (value * 2, value // 2, 1) if is_power_of_two(value) else ()


def texts(scene: Scene) -> Iterator[Proposal]:
    """Single changes of strings, without dtypes, layouts and assembly, which have their own generators."""
    constraints = {call.constraints for call in scene.source.asm_calls}
    for name, value in scene.case.constexprs.items():
        if isinstance(value, str) and not dtype_text(value) and parse(value) is None and name not in constraints:
            yield from _other_texts(scene, name, value)


def _other_texts(scene: Scene, name: str, value: str) -> Iterator[Proposal]:
    quoted = value in scene.evidence.text or name in scene.evidence.mentions
    seen = {value}

    def fresh(values: tuple[str, ...], prior: float, step: float, why: str) -> Iterator[Proposal]:
        for index, other in enumerate(other for other in values if other not in seen):
            seen.add(other)
            yield Proposal({name: other}, Move.TEXT, prior + step * index, 2.5, why)

    used_as = scene.source.keywords.get(name, set())
    defined = tuple(dict.fromkeys(v for keyword in sorted(used_as) for v in _ENUMERATIONS.get(keyword, ())))
    offered = scene.evidence.offered if quoted else ()
    both = tuple(other for other in defined if other in offered)
    yield from fresh(both, -0.6, 0.1, "one of the values that the message offers")
    yield from fresh(offered, -0.4, 0.1, "one of the values that the message offers")
    compared = tuple(v for v in scene.source.compared.get(name, ()) if isinstance(v, str))
    others = tuple(other for other in compared if other not in seen)
    if isinstance(default := scene.source.defaults.get(name), str):
        yield from fresh((default,), 1.0, 0, f"{name} as the kernel's signature has it")
    yield from fresh(others[:1], 1.3, 0, f"another {name} that the kernel tests for")
    if compared:
        upper = all(other.isupper() for other in compared)
        yield from fresh(("NONE" if upper else "none",), 1.4, 0, f"a {name} that no branch tests for")
    yield from fresh(others, 1.6, 0.2, f"another {name} that the kernel tests for")
    yield from fresh(defined, 1.3, 0.15, "another value that the language defines")


def formats(scene: Scene) -> Iterator[Proposal]:
    """Each operand of ``tl.dot_scaled`` in each other format; its pointer's type and its packing change with it."""
    names = [name for name, used_as in scene.source.keywords.items() if used_as & _FORMAT_KEYWORDS]
    for name in names:
        value = scene.case.constexprs.get(name)
        if value not in _ELEMENT:
            continue
        stem = name.split("_", 1)[0].lower()
        pointers = [p for p in scene.case.signature if re.match(rf"{stem}(?:_?ptr)?\Z", p, re.IGNORECASE)]
        packing = [c for c in scene.case.constexprs if "PACK" in c.upper() and c.split("_", 1)[0].lower() == stem]
        for index, (other, element) in enumerate(_ELEMENT.items()):
            if other == value or not (pointers or packing):
                continue
            changes: dict[str, str | int] = {name: other, **dict.fromkeys(pointers, f"*{element}")}
            changes |= dict.fromkeys(packing, 2 if other == "e2m1" else 1)
            changes = {n: v for n, v in changes.items() if {**scene.case.signature, **scene.case.constexprs}[n] != v}
            why = f"{name} {other} and its data: changes the data the caller passes"
            yield Proposal(changes, Move.DATA, 1.6 + 0.2 * index, 5, why)


def assembly(scene: Scene) -> Iterator[Proposal]:
    """Constraint strings of inline assembly: as many inputs as tensors; then other register classes.

    LLVM wants one input constraint a tensor, and a register class as wide as the element. The assembly's own text is
    the user's program: nothing is suggested about it.
    """
    for call in scene.source.asm_calls:
        value = scene.case.constexprs.get(call.constraints)
        if not isinstance(value, str):
            continue
        parts = [part.strip() for part in value.split(",") if part.strip()]
        inputs = [part for part in parts if not part.startswith(("=", "~"))]
        if inputs and len(inputs) != call.inputs:
            yield Proposal(
                {call.constraints: _with_inputs(parts, inputs, call.inputs)},
                Move.TEXT,
                -0.8,
                2,
                f"{call.inputs} tensors go in, so {call.inputs} input constraints",
            )
        for index, letter in enumerate(_CLASSES.get(scene.case.target.backend, "")):
            other = ",".join(_with_class(part, letter) for part in parts)
            why = f"operands in registers of class {letter!r}"
            yield Proposal({call.constraints: other}, Move.TEXT, 1.5 + 0.2 * index, 2.5, why)


def _with_inputs(parts: list[str], inputs: list[str], count: int) -> str:
    """Keep outputs and clobbers in place; drop the last inputs, or repeat the last one."""
    outputs = [part for part in parts if part.startswith("=")]
    clobbers = [part for part in parts if part.startswith("~")]
    padded = [*inputs[:count], *[inputs[-1]] * (count - len(inputs))]
    return ",".join([*outputs, *padded, *clobbers])


def _with_class(part: str, letter: str) -> str:
    if part.startswith("~") or part.lstrip("=&").isdigit():
        return part  # a clobber, or an input tied to an output by number
    return part[: len(part) - len(part.lstrip("=&"))] + letter
