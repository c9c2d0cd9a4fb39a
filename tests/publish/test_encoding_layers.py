"""Every form of a credential below every layer of escapes, up to three deep, behind and before other texts."""

from __future__ import annotations

import html
import itertools
import json
import random
import shlex
from ast import literal_eval
from collections.abc import Callable
from urllib.parse import quote

import pytest
from rows import one_in
from test_command_secrets import COMMANDS, PIPES
from test_credentials import NAMED, TOKENS, generated, leaks, scrubbed

from triage.publish.privacy.layers import layers

FORMS = (*TOKENS.values(), *NAMED.values(), *COMMANDS, *PIPES)


def as_mlir(text: str) -> str:
    """A string attribute, as llvm::printEscapedString writes it."""
    return '"' + "".join(
        f"\\{ord(character):02X}" if character in '\\"' or not character.isprintable() else character
        for character in text
    ) + '"'  # fmt: skip


LAYERS: dict[str, Callable[[str], str]] = {
    "JSON": json.dumps,
    "a field of JSON": lambda text: json.dumps({"log": f"a\n{text}\nb"}),
    "Python": repr,
    "Python, both quotes": lambda text: repr(f"'{text}' \""),
    "bytes": lambda text: repr(text.encode()),
    "HTML": html.escape,
    "a shell": lambda text: f"bash -c {shlex.quote(text)}",
    "a URL": lambda text: f"https://x.example/?q={quote(text, safe='')}",
    "MLIR": as_mlir,
    "characters": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "tabs": lambda text: text.replace(" ", "\t"),
    "line ends": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: f"\x1b[31m{text}\x1b[0m",
}
BOUNDARIES = ("{}", "a\n{}\nb", "[rank0]: {}", "x {} && ls", "# {}", "$ {}", "\t{}", "it's {}")
STACKS = [stack for depth in range(4) for stack in itertools.product(LAYERS, repeat=depth)]


def layered(text: str, stack: tuple[str, ...], boundary: str) -> str:
    text = boundary.replace("{}", text)
    for name in stack:
        text = LAYERS[name](text)
    return boundary.replace("{}", text)


def assert_removed(form: str, stack: tuple[str, ...], boundary: str) -> None:
    credential, parts = generated(form)
    text = layered(credential, stack, boundary)
    assert leaks(scrubbed(text), parts) == [], (stack, text)


@pytest.mark.parametrize("outermost", one_in(2, LAYERS))
def test_a_credential_below_layers(outermost: str) -> None:
    """A third of the forms below this layer alone, and below others chosen for each; each form is below a third of the
    layers."""
    for form in FORMS[list(LAYERS).index(outermost) % 3 :: 3]:
        choose = random.Random(f"{outermost} {form}")
        assert_removed(form, (outermost,), choose.choice(BOUNDARIES))
        inner = tuple(choose.choices(list(LAYERS), k=choose.randint(1, 2)))
        assert_removed(form, (*inner, outermost), choose.choice(BOUNDARIES))


@pytest.mark.parametrize("form", [form for form in FORMS if "\n" in form])
def test_line_ends_that_were_translated_twice(form: str) -> None:
    assert_removed(form, ("line ends", "line ends"), "a\n{}\nb")


_FORMS_A_STACK = 8
"""Of 265 below two or three layers, at each boundary: all of them take two hours, and this a few minutes. Each form is
below some 570 stacks, and each stack has some 60 forms."""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_every_form_below_all_layers(boundary: str) -> None:
    for stack in STACKS:
        choose = random.Random(f"{boundary} {stack}")
        for form in FORMS if len(stack) < 2 else choose.sample(FORMS, _FORMS_A_STACK):
            assert_removed(form, stack, boundary)


@pytest.mark.parametrize("boundaries", [1, pytest.param(len(BOUNDARIES), marks=pytest.mark.slow)])
@pytest.mark.parametrize("read", [json.loads, literal_eval, lambda text: json.loads(json.loads(text))])
def test_what_a_literal_is_written_in_stays_whole(read: Callable[[str], object], boundaries: int) -> None:
    """Each form at one boundary after another."""
    write = {json.loads: json.dumps, literal_eval: repr}.get(read, lambda text: json.dumps(json.dumps(text)))
    for number, form in enumerate(FORMS):
        for boundary in range(number, number + boundaries):
            text = BOUNDARIES[boundary % len(BOUNDARIES)].replace("{}", generated(form)[0])
            read(scrubbed(write(text)))


@pytest.mark.parametrize(
    "stack", [stack for stack in STACKS if len(stack) < 3 and "characters" not in stack], ids=",".join
)
def test_each_character_is_traced_to_the_outermost_text(stack: tuple[str, ...]) -> None:
    text = layered("before 'word' \\ and\n\"after\"", stack, "<{}>")
    for layer in layers(text):
        for word in ("before", "word", "after"):
            at = layer.text.index(word)
            start, end = layer.origin(at, at + len(word))
            assert text[start:end] == word
        # A part of an escape is nowhere.
        origins = [layer.origin(at, at + 1) for at in range(len(layer.text))]
        spans = [(start, end) for start, end in origins if start < end]
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
