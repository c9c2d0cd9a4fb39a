"""The GPU that a source is written for, by the parts of the DSL that it names."""

from __future__ import annotations

import ast
import re

from triage.model.target import DEFAULT_TARGET, Target

_TCGEN05 = re.compile(r"tcgen05$|^(sm100_utils|blackwell_helpers)$|^[Tt]mem|_tmem$|^(sm100|Sm100)")
_SM103 = re.compile(r"^[Ss]m_?103[af]?(?=_|[A-Z]|$)")
_SM120 = re.compile(r"^[Ss]m_?120[af]?(?=_|[A-Z]|$)|^Mma(SM120|MX)|geforce")
_WARPGROUP = re.compile(r"^(warpgroup|hopper_helpers|sm90_utils|wgmma|setmaxregister_\w+|warpgroup_reg_\w+)$")

_ARCHITECTURES = (("120", (_SM120,)), ("103", (_SM103, _TCGEN05)), ("100", (_TCGEN05,)), ("90", (_WARPGROUP,)))
"""The first whose patterns are all met. Kernels for 12.0 use helpers of the others, which use none of its own."""
OTHERS = tuple(Target("cuda", architecture) for architecture in ("100", "120"))
"""To be tried in turn where a source does not tell its GPU, and the default one lacks what it uses."""


def required_target(tree: ast.Module) -> tuple[Target, str]:
    """The target whose parts of the DSL a source names, and the name that implies it; that of triage where it names
    none.

    The matrix instructions of 10.x are refused on every other architecture, and those of 9.0 too (`MmaF16BF16Op` of
    ``warpgroup`` and ``tcgen05`` check it as they are made).
    """
    names: dict[str, int] = {}
    for node in ast.walk(tree):
        for name, line in _named(node):
            names.setdefault(name, line)
    for architecture, patterns in _ARCHITECTURES:
        telling = [next((name for name in names if pattern.search(name)), None) for pattern in patterns]
        if (first := telling[0]) is not None and None not in telling:
            return Target("cuda", architecture), f"{first} in line {names[first]}"
    return Target.parse(DEFAULT_TARGET), ""


def _named(node: ast.AST) -> list[tuple[str, int]]:
    """Names that a node of a tree states, each with its line."""
    match node:
        case ast.Name(id=name, lineno=line) | ast.Attribute(attr=name, lineno=line):
            return [(name, line)]
        case ast.ClassDef(name=name, lineno=line):
            return [(name, line)]
        case ast.Import(names=aliases, lineno=line):
            return [(part, line) for alias in aliases for part in alias.name.split(".")]
        case ast.ImportFrom(module=module, names=aliases, lineno=line):
            parts = [*(module or "").split("."), *(alias.name for alias in aliases)]
            return [(part, line) for part in parts]
    return []
