"""Element types: dtype constexprs, the tensors of a type, and both together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from triage.harness.worker.cute import grammar
from triage.source.dtypes import canonical_dtype, loss
from triage.suggest.cute.scene import CuteScene
from triage.suggest.cute.suspicion import suspicion
from triage.suggest.proposal import Move, Proposal

_PREFIX = "cutlass."
_NAMES = {title: name for name, title in grammar.DTYPES.items()}
_SAFER: Mapping[str, tuple[str, ...]] = {
    "f8": ("f16", "bf16", "f32"),
    "f6": ("f8e4m3", "f16"),
    "f4": ("f8e4m3", "f16"),
    "bf16": ("f32", "f16"),
    "f16": ("f32", "bf16"),
    "tf32": ("bf16", "f16", "f32"),
    "f32": ("f16", "bf16"),
    "f64": ("f32",),
    "i4": ("i8",),
    "i8": ("i32", "f16"),
    "u8": ("i32", "i8"),
    "i16": ("i32",),
    "i64": ("i32",),
    "i32": ("i64",),
    "i1": ("i8", "i32"),
}
"""What to try in place of a type: those that hold all of its values first."""
_LOSSY = 0.3
"""Penalty of a type that cannot hold the data."""


def is_dtype(value: Any) -> bool:
    """A constexpr that names an element type."""
    return isinstance(value, str) and value.removeprefix(_PREFIX) in _NAMES


def short(value: str) -> str:
    """The name in a tensor's type of a dtype constexpr: ``cutlass.Float32`` is ``f32``."""
    return _NAMES[value.removeprefix(_PREFIX)]


def lost(before: str, after: str) -> str:
    """What a type cannot hold of another one's values, "" for nothing."""
    return loss(_canonical(before), _canonical(after))


def _canonical(dtype: str) -> str:
    eight = {"f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5", "tf32": "fp32"}
    return eight.get(dtype) or canonical_dtype(dtype)


def alternatives(scene: CuteScene, dtype: str) -> list[str]:
    """Types to try in place of one: those that the message offers alone, where it offers any of them."""
    family = next((key for key in (dtype, dtype[:2]) if key in _SAFER), "")
    others = [other for other in _SAFER.get(family, ()) if other != dtype]
    named = [name for name, title in grammar.DTYPES.items() if re.search(rf"\b(?:{title}|{name})\b", scene.text)]
    offered = [name for name in named if name != dtype]
    return [other for other in others if other in offered] or [*offered[:2], *others] if others else offered


def elements(scene: CuteScene) -> Iterator[Proposal]:
    """All changes of element types."""
    tensors: dict[str, list[str]] = {}
    for name, tensor in scene.tensors:
        tensors.setdefault(tensor.dtype, []).append(name)
    constants = {name: short(value) for name, value in scene.values.items() if is_dtype(value)}
    for name, dtype in constants.items():
        for index, other in enumerate(alternatives(scene, dtype)):
            prior = _prior(scene, name, dtype, other) + 0.12 * index
            title = _PREFIX + grammar.DTYPES[other]
            alone = {name: title}
            yield Proposal(alone, Move.DTYPE, prior, 3, f"{name} {other} in place of {dtype}")
            same = {also: title for also, held in constants.items() if held == dtype}
            if len(same) > 1:
                yield Proposal(same, Move.DTYPE, prior + 0.3, 4, f"{', '.join(same)} {other} in place of {dtype}")
            if dtype in tensors:
                data = {**alone, **retyped(scene, tensors[dtype], other)}
                why = f"{', '.join(data)} {other} in place of {dtype}"
                yield Proposal(data, Move.DATA, prior + 0.06, 5, why)
    for dtype, names in tensors.items():
        for index, other in enumerate(alternatives(scene, dtype)):
            groups = [names] if len(names) == 1 else [names, *([name] for name in names)]
            for step, group in enumerate(groups):
                prior = _prior(scene, group[0], dtype, other) + 0.4 + 0.12 * index + 0.3 * (step > 0)
                why = f"{', '.join(group)} {other} in place of {dtype}"
                yield Proposal(retyped(scene, group, other), Move.DATA, prior, 5, why)


def retyped(scene: CuteScene, names: list[str], dtype: str) -> dict[str, str]:
    """Types of tensors with another element."""
    tensors = dict(scene.tensors)
    return {name: str(replace(tensors[name], dtype=dtype)) for name in names}


def _prior(scene: CuteScene, name: str, before: str, after: str) -> float:
    thin = before[:2] in ("f8", "f6", "f4") or before in ("tf32", "i4")
    prior = 1.3 + suspicion(scene, name) - (0.6 if scene.about_types else 0.0) - (0.6 if thin else 0.0)
    return prior + (_LOSSY if lost(before, after) else 0.0)
