"""String constexprs: other values that the message offers, that the kernel tests for, or that the language defines.

A value that no branch tests for takes the ``else`` branch, which is most often "do nothing special": it is spelled
``none``, since that is what a reader takes it for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triage.suggest.candidate import Move, Proposal
from triage.source.dtypes import dtype_text
from triage.suggest.layout_text import parse
from triage.suggest.scene import Scene

ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
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


def texts(scene: Scene) -> Iterator[Proposal]:
    """Single changes of strings, without dtypes, layouts and assembly, which have their own modules."""
    assembly = {call.constraints for call in scene.source.asm_calls}
    for name, value in scene.case.constexprs.items():
        if isinstance(value, str) and not dtype_text(value) and parse(value) is None and name not in assembly:
            yield from _values(scene, name, value)


def _values(scene: Scene, name: str, value: str) -> Iterator[Proposal]:
    quoted = value in scene.evidence.text or name in scene.evidence.mentions
    seen = {value}

    def fresh(values: tuple[str, ...], prior: float, step: float, why: str) -> Iterator[Proposal]:
        for index, other in enumerate(other for other in values if other not in seen):
            seen.add(other)
            yield Proposal({name: other}, Move.TEXT, prior + step * index, 2.5, why)

    used_as = scene.source.keywords.get(name, set())
    defined = tuple(dict.fromkeys(v for keyword in used_as for v in ENUMERATIONS.get(keyword, ())))
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
