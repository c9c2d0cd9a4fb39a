"""Rewrites of CuTe DSL sources: each recipe is tried for the failures that its pattern matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from triage.source.module import Module
from triage.suggest.cute.scene import CuteScene
from triage.suggest.rewrites.cute.calls import (
    arguments_completed,
    constexpr_annotated,
    stored_as_element,
    text_chosen,
    wide_print,
)
from triage.suggest.rewrites.cute.control_flow import early_exit, loop_else, read_at_run_time, rolled
from triage.suggest.rewrites.cute.lists import list_in_registers
from triage.suggest.rewrites.cute.literals import numbers_changed
from triage.suggest.rewrites.cute.shared_memory import (
    laid_out_as_source,
    single_elements,
    staged_copy,
    within_alignment,
)
from triage.suggest.rewrites.cute.subject import CuteSubject
from triage.suggest.rewrites.cute.variables import defined_before, one_type
from triage.suggest.rewrites.recipe import Rewritten

Recipe = Callable[[CuteSubject], Iterator[Rewritten]]

_ALIGNMENT = r"alignment.*requirement|requirement.*alignment|cannot vectorize copy"
_RECIPES: tuple[tuple[str, Recipe], ...] = (
    (r"UNSUP_EARLY_EXIT|[Ee]arly exit|(?:return|break|continue)\b.*not (?:allowed|supported)", early_exit),
    (r"UNSUP_LOOP_ELSE|loop.*\belse\b|\belse\b.*loop", loop_else),
    (r"PHASE_REQUIRES_CONSTANT|const_?expr|[Dd]ynamic expression|compile-?time constant", read_at_run_time),
    (r"did not end within|memory limit|out of memory|RecursionError", rolled),
    (r"TYPE_UNSTABLE_JOIN|type.* change[sd]|different type|structured different|mismatch.*type", one_type),
    (r"not associated with a value|referenced before assignment|is not defined|None prior to", defined_before),
    (r"PHASE_DYNAMIC_INDEX|[Ll]ist ind(?:ex|ices)|cannot be (?:used|interpreted) as an? in", list_in_registers),
    (r"ARG_BIND_FAILED|missing .*argument|positional arguments?", arguments_completed),
    (r"[Tt]ype mismatch, store", stored_as_element),
    (r"failed to generate argument|ARG_\w+|[Cc]onstexpr", constexpr_annotated),
    (r"cute\.print|printf|can be printed", wide_print),
    (r"<class 'str'> is not supported|'str'|str.*not supported", text_chosen),
    (_ALIGNMENT, laid_out_as_source),
    (_ALIGNMENT, staged_copy),
    (_ALIGNMENT, single_elements),
    (_ALIGNMENT, within_alignment),
    ("", numbers_changed),
)
"""A pattern of failures, in any case of letters, and what is tried for them; what keeps results first."""
_MOST_OF_ONE = 3
"""Texts that one recipe makes."""


def rewrites(source: str, scene: CuteScene, release: str) -> Iterator[Rewritten]:
    """What the recipes make of the case's source. Each result once; nothing where the file is not Python."""
    module = Module.parse(source)
    if module is None:
        return
    subject = CuteSubject(module, scene, release)
    seen = {source}
    for pattern, recipe in _RECIPES:
        if re.search(pattern, scene.text):
            for rewritten in islice(recipe(subject), _MOST_OF_ONE):
                if rewritten.text not in seen:
                    seen.add(rewritten.text)
                    yield rewritten
