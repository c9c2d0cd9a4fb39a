"""Every recipe by name, and what each does to one failing kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from triage.case import Case
from triage.suggest.rewrites.module import Module
from triage.suggest.rewrites.operand_transposed import operand_transposed
from triage.suggest.rewrites.recipe import Recipe, Rewritten, Subject
from triage.suggest.scene import Scene

RECIPES: Mapping[str, Recipe] = {
    "operand-transposed": operand_transposed,
}
"""By the name that an entry of the knowledge base calls them."""

_RELEVANT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("operand-transposed", re.compile(r"WGMMA|transpose|K-?major|wgmma instruction", re.IGNORECASE)),
)
"""What in a failure's text speaks for a recipe, where no entry of the knowledge base names one."""


def rewrites(case: Case, scene: Scene, named: Iterable[str]) -> Iterator[Rewritten]:
    """What the recipes make of the case's source: those that entries name first, then those that the text of the
    failure speaks for. Each result once; nothing where the file is not Python."""
    try:
        text = case.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    module = Module.parse(text)
    kernels = module.functions(case.name) if module else []
    if module is None or not kernels:
        return
    subject = Subject(module, kernels[0], scene, _imported(module, case.path.parent))
    spoken_for = [name for name, pattern in _RELEVANT if pattern.search(scene.evidence.text)]
    seen = {text}
    for name in dict.fromkeys([*named, *spoken_for]):
        for rewritten in RECIPES[name](subject):
            if rewritten.text not in seen:
                seen.add(rewritten.text)
                yield rewritten


def _imported(module: Module, folder: Path) -> dict[str, tuple[ast.FunctionDef, ...]]:
    """Functions that the file imports by name from files beside it. Read, never run; a file that cannot be read is
    left out."""
    found: dict[str, tuple[ast.FunctionDef, ...]] = {}
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ImportFrom) or not node.module or "." in node.module or node.level > 1:
            continue
        try:
            other = Module.parse((folder / f"{node.module}.py").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        for alias in node.names:
            if other is not None:
                found[alias.asname or alias.name] = tuple(other.functions(alias.name))
    return found
