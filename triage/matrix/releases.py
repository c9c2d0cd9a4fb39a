"""Which releases a table has: ``3.0..3.9``, ``3.2,3.6.0``, ``all``, ``installed``. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from triage.model.compilers import TRITON, Compiler
from triage.model.document import Doc, Documented, Internal
from triage.model.errors import InputError
from triage.model.releases import nearest, numbers, parse, sort_key

ALL, INSTALLED = "all", "installed"
_RANGE = ".."
_SEVERAL = re.compile(r"(?:v?\d[\d.]*)?\.\.(?:v?\d[\d.]*)?|[^/]*,[^/]*")
_LABEL = re.compile(r"[A-Za-z0-9][\w.+-]{0,39}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row(Documented):
    """One row: a release, or the user's own build (``python`` is its interpreter)."""

    name: str
    release: Internal[str | None] = None
    python: str | None = None

    @property
    def kind(self) -> Annotated[str, Doc()]:
        """``release`` or ``build``."""
        return "build" if self.python else "release"


@dataclass(frozen=True, slots=True)
class Selection:
    """``chosen``: the releases to compile first, oldest first. ``known``: those and every other patch release inside
    the ranges, used to narrow an edge."""

    chosen: tuple[str, ...]
    known: tuple[str, ...]


def select(texts: Iterable[str], installed: Sequence[str], compiler: Compiler = TRITON) -> Selection:
    """The releases of a compiler that the texts of its option ask for; ``installed`` are those of this machine.

    A range takes the newest patch release of each series, and every release where one of its ends has a patch number;
    either end may be left out. Raises InputError.
    """
    chosen: set[str] = set()
    known: set[str] = set()
    for word in (word.strip() for text in texts for word in text.split(",")):
        if word == INSTALLED:
            chosen |= set(installed)
        elif word == ALL:
            chosen |= set(compiler.releases)
        elif _RANGE in word:
            inside, every = _range(word, compiler)
            chosen |= set(inside)
            known |= set(every)
        else:
            chosen.add(_single(word, compiler))
    if not chosen:
        option, newest = compiler.option, compiler.releases[-1].rpartition(".")[0]
        raise InputError(
            f"{option} installed: no {compiler.title} is installed; name releases, "
            f"as in {option} {compiler.oldest}..{newest}"
        )
    return Selection(_ordered(chosen), _ordered(chosen | known))


def is_several(text: str | None) -> bool:
    """Whether the text of ``--triton`` asks for more than one release."""
    return text is not None and (text in (ALL, INSTALLED) or _SEVERAL.fullmatch(text) is not None)


def builds(texts: Iterable[str], releases: Sequence[str]) -> list[Row]:
    """Rows for ``--python [LABEL=]PATH``; without a label the path is the name. Raises InputError."""
    rows: list[Row] = []
    taken = set(releases)
    for text in texts:
        label, equals, path = text.partition("=")
        if not equals or "/" in label:
            label, path = text, text
        elif not _LABEL.match(label) or not path:
            raise InputError(f"--python {text!r}: write LABEL=PATH, as in --python main=/src/triton/.venv")
        if label in taken:
            raise InputError(f"--python {text}: {label} is another row's name; give it a label of its own")
        taken.add(label)
        rows.append(Row(label, python=path))
    return rows


def between(older: str, newer: str, releases: Iterable[str]) -> list[str]:
    """The elements of ``releases`` strictly between two, oldest first."""
    low, high = sort_key(older), sort_key(newer)
    return sorted((release for release in releases if low < sort_key(release) < high), key=sort_key)


def _single(word: str, compiler: Compiler) -> str:
    request = parse(word, compiler)
    # A row is one release: for a series that is not over, the newest known one.
    fitting = [release for release in compiler.releases if request.is_met_by(release)]
    return fitting[-1] if request.is_series and fitting else request.text


def _range(word: str, compiler: Compiler) -> tuple[list[str], list[str]]:
    """The releases that a range selects, and all releases inside it."""
    first, _, last = word.partition(_RANGE)
    low, high = _end(word, first, compiler), _end(word, last, compiler)
    if low and high and low > high[: len(low)] + low[len(high) :]:
        raise InputError(
            f"{compiler.option} {word}: runs backwards; write the older release first, as in {last}..{first}"
        )
    every = [
        release
        for release in compiler.releases
        if numbers(release)[: len(low)] >= low and (not high or numbers(release)[: len(high)] <= high)
    ]
    if len(low) == 3 or len(high) == 3:
        return every, every
    newest = {numbers(release)[:2]: release for release in every}
    return list(newest.values()), every


def _end(word: str, text: str, compiler: Compiler) -> tuple[int, ...]:
    """One end of a range as two or three numbers; none where it is open."""
    text = text.strip().removeprefix("v")
    if not text:
        return ()
    parse(text, compiler)
    known = compiler.releases
    if any(release == text or release.startswith(f"{text}.") for release in known):
        return numbers(text)
    near = ", ".join(nearest(text, known, compiler=compiler))
    raise InputError(
        f"{compiler.option} {word}: {text} is not a release that triage knows (near it: {near}); "
        f"name one that is newer by itself, as in {compiler.option} {known[0]}..,{text}"
    )


def _ordered(releases: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(releases, key=sort_key))
