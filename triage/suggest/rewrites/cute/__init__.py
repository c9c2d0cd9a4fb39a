"""Rewrites of CuTe DSL sources: those that entries of the knowledge base name, and those whose pattern matches."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import cast

from triage.source.module import Module
from triage.suggest.cute.scene import CuteScene
from triage.suggest.rewrites.catalogue import CUTE_CATALOGUE
from triage.suggest.rewrites.cute.subject import CuteSubject
from triage.suggest.rewrites.recipe import Rewritten

CuteRecipe = Callable[[CuteSubject], Iterator[Rewritten]]

_MOST_TEXTS = 3
"""Texts that one recipe makes."""


def recipe(name: str) -> CuteRecipe:
    """The code of a recipe. Raises KeyError."""
    module = importlib.import_module(f"triage.suggest.rewrites.{CUTE_CATALOGUE[name].module}")
    return cast(CuteRecipe, getattr(module, name.replace("-", "_")))


def rewrites(source: str, scene: CuteScene, release: str, named: Iterable[str]) -> Iterator[Rewritten]:
    """What the recipes make of the case's source, those that entries name first. Each result once; nothing where the
    file is not Python."""
    module = Module.parse(source)
    if module is None:
        return
    subject = CuteSubject(module, scene, release)
    asked = set(named)
    by_text = [name for name, entry in CUTE_CATALOGUE.items() if re.search(entry.failures, scene.text)]
    by_entry = [name for name in CUTE_CATALOGUE if name in asked]
    seen = {source}
    for name in dict.fromkeys([*by_entry, *by_text]):
        for rewritten in islice(recipe(name)(subject), _MOST_TEXTS):
            if rewritten.text not in seen:
                seen.add(rewritten.text)
                yield rewritten
