"""Rewrites of control flow as text: what follows a way out runs where it ran before."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.language import Language
from triage.suggest.cute.scene import CuteScene
from triage.suggest.rewrites.catalogue import CATALOGUE, CUTE_CATALOGUE, RECIPES
from triage.suggest.rewrites.cute import recipe, rewrites

HEAD = "import cutlass\nfrom cutlass import cute\n\n\n@cute.kernel\ndef host(x, n):\n"


def rewritten(body: str, marker: str, message: str, named: tuple[str, ...] = ()) -> list[str]:
    """The bodies that are made of a kernel's, where the failure is at the line with ``marker``. ``named``: recipes that
    an entry names."""
    source = HEAD + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
    line = next(number for number, text in enumerate(source.splitlines(), 1) if marker in text)
    case = Case(folder=Path(), file="kernel.py", name="host", signature={}, language=Language.CUTE)
    location = SourceLocation("kernel.py", line, 1)
    diagnosis = Diagnosis(Kind.FRONTEND_ERROR, message, message, source=location, stage="trace")
    texts = (made.text for made in rewrites(source, CuteScene.of(case, source, diagnosis, ""), "4.8.1", named))
    return [dedent(text.removeprefix(HEAD)) for text in texts]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if n > 3:\n    return\nx[0] = 1", "if n <= 3:\n    x[0] = 1\n"),
        ("if n:\n    x[1] = 2\n    return\nx[0] = 1", "if n:\n    x[1] = 2\nelse:\n    x[0] = 1\n"),
        ("if n:\n    return\nelse:\n    x[1] = 2\nx[0] = 1", "if not (n):\n    x[1] = 2\n    x[0] = 1\n"),
    ],
)
def test_an_early_return(before: str, after: str) -> None:
    assert rewritten(before, "return", "error[UNSUP_EARLY_EXIT]: Early exit (return) is not allowed") == [after]


def test_what_follows_the_outer_block_stays_where_it_is() -> None:
    inner = "for i in cutlass.range(n):\n    if x[i]:\n        if i > 2:\n            continue\n        x[i] = 1\n"
    message = "error[UNSUP_EARLY_EXIT]: Early exit (continue) is not allowed"
    assert len(rewritten(inner, "continue", message)) == 1
    assert rewritten(f"{inner}    x[0] = 2\n", "continue", message) == []


def test_texts_over_several_lines_are_not_moved() -> None:
    body = 'if n:\n    return\nprint("""a\nb""")'
    assert rewritten(body, "return", "error[UNSUP_EARLY_EXIT]: Early exit (return) is not allowed") == []


def test_recipes_are_found_by_name() -> None:
    assert len(RECIPES) == len(CATALOGUE) + len(CUTE_CATALOGUE)
    assert all(callable(recipe(name)) for name in CUTE_CATALOGUE)


def test_an_entry_names_a_recipe_that_the_message_does_not() -> None:
    body = """
        if n > 0:
            return
        x[0] = n
    """
    assert rewritten(body, "return", "it fails") == []
    assert rewritten(body, "return", "it fails", ("early-exit", "dot-operand-turned")) != []
