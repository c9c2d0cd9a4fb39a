"""The rewrites of one failing kernel: the recipes that knowledge-base entries or the failure's text ask for."""

import importlib
import re
from collections.abc import Iterable, Iterator
from typing import cast

from triage.model.case import Case
from triage.suggest.rewrites.catalogue import CATALOGUE
from triage.suggest.rewrites.recipe import Recipe, Rewritten, Subject
from triage.suggest.scene import Scene


def recipe(name: str) -> Recipe:
    """The code of a recipe. Raises KeyError."""
    module = importlib.import_module(f"triage.suggest.rewrites.{CATALOGUE[name].module}")
    return cast(Recipe, getattr(module, name.replace("-", "_")))


def rewrites(case: Case, scene: Scene, named: Iterable[str]) -> Iterator[Rewritten]:
    """What the recipes make of the case's source: those that entries name first, then those that the text of the
    failure asks for. Each result once; nothing where the file is not Python."""
    try:
        text = case.text()
    except OSError:
        return
    subject = Subject.of(scene, text)
    if subject is None:
        return
    text_matches = (
        name
        for name, entry in CATALOGUE.items()
        if entry.failures and re.search(entry.failures, scene.evidence.text, re.IGNORECASE)
    )
    seen = {text}
    of_triton = (name for name in named if name in CATALOGUE)
    for name in dict.fromkeys([*of_triton, *text_matches]):
        for rewritten in recipe(name)(subject):
            if rewritten.text not in seen:
                seen.add(rewritten.text)
                yield rewritten
