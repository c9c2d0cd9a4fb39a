"""Which operations of a module the failure names, and by what: its text, a compiler's function, or the kernel's line.

Only what is named is marked: a module where nothing is has no mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUOTED = re.compile(r"['\"`](?P<name>[a-z_]\w{0,40}(?:\.\w{1,60}){1,5})['\"`]")
_OPERATION = re.compile(
    r"^\s*(?:%[\w#:, %$.-]{1,400}?\s=\s)?"
    r"(?:\"(?P<quoted>[\w.]{3,80})\"|(?P<plain>[a-z_]\w{0,40}(?:\.\w{1,60}){1,5}))(?=[\s(<])"
)
_PARTS = re.compile(r"(?P<stem>[A-Za-z0-9]{2,60}?)(?:Op)?(?:Pattern|Conversion|Lowering|Rewriter?|Adaptor|s)?$")
_MOST_MARKED = 40
"""Where more operations are named than that, the first is marked: a page of marks shows nobody anything."""


@dataclass(frozen=True, slots=True)
class Failing:
    """Lines from 0, and why these: a clause."""

    lines: frozenset[int] = frozenset()
    why: str = ""


def failing(module: str, message: str, function: str | None, place: tuple[str, int] | None) -> Failing:
    """The lines of ``module`` whose operation is the failing one. ``message``: the failing text; ``function``: the
    compiler's, without namespaces; ``place``: file and line of the kernel."""
    lines = module.split("\n")
    operations = {number: name for number, line in enumerate(lines) if (name := _operation(line))}
    named = {match["name"] for match in _QUOTED.finditer(message)}
    if found := {number for number, name in operations.items() if name in named}:
        names = sorted({operations[number] for number in found})
        return _marked(found, f"the failing text names {', '.join(names)}")
    stems = {stem for part in (function or "").split("::") if (stem := _stem(part))}
    if found := {number for number, name in operations.items() if _plain(name.rpartition(".")[2]) in stems}:
        return _marked(found, f"it failed in {function}")
    if place is not None and (found := _at(lines, operations, *place)):
        return _marked(found, f"of line {place[1]} of {place[0]}")
    return Failing()


def _marked(found: set[int], why: str) -> Failing:
    if len(found) <= _MOST_MARKED:
        return Failing(frozenset(found), why)
    return Failing(frozenset({min(found)}), f"{why}; the first of {len(found)}")


def _operation(line: str) -> str | None:
    match = _OPERATION.match(line)
    return match and (match["quoted"] or match["plain"])


def _stem(part: str) -> str | None:
    """What a class of the compiler is for: ``WGMMAOpPattern`` for ``wgmma``, ``DotOp`` for ``dot``. Names without one
    of these endings say nothing of an operation."""
    if not re.search(r"Op(?:Pattern|Conversion|Lowering|Rewriter?|Adaptor|s)?$", part):
        return None
    match = _PARTS.match(part)
    return _plain(match["stem"]) if match else None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _at(lines: list[str], operations: dict[int, str], file: str, line: int) -> set[int]:
    """Operations with the kernel's line in their location, given in place or by an alias (``#loc7``)."""
    here = re.compile(rf'loc\("(?:[^"]*/)?{re.escape(file)}":{line}:\d+')
    aliases = {text.split(" ", 1)[0] for text in lines if text.startswith("#loc") and here.search(text)}
    used = re.compile(rf"loc\((?:{'|'.join(map(re.escape, aliases))})\)") if aliases else None
    return {number for number in operations if here.search(lines[number]) or (used and used.search(lines[number]))}
