"""LLVM IR as text: what stands in lines, taken out by function, block, instruction, attribute and metadata."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType

from triage.ir.llvm import LABEL, RESULT, VALUE, blank, count_instructions, functions
from triage.ir.llvm import instructions as ranges
from triage.ir.mlir import Span
from triage.minimize.ir.edits import Edit, apply
from triage.minimize.ir.search import Search, Size

_NUMBER = re.compile(r"%(\d+)\b")
_NUMBERED_LABEL = re.compile(r"^(\d+):")
_END = re.compile(r"\s+(?:ret|br|switch|unreachable|indirectbr|resume|callbr|invoke)\b")
_CHOICE = re.compile(r"\s+(?:br i1 |switch )")
_TARGET = re.compile(r"label (%[\w$.-]+)")
_GROUPS = re.compile(r" #\d+|,? ![\w.]+(?: ![\w.]+(?:\([^()]*\))?)?")
_DROPPED = re.compile(r"(?:;|declare |attributes #|![\w.]+ = |@|source_filename|target )")
_ATTRIBUTE = re.compile(
    r" (?!(?:call|void|asm|sideeffect|float|double|half|bfloat|ptr|label|to)\b)"
    r"(?:\w+\([^()]*\)|[a-z_]+|align \d+)(?=[ ,)])"
)
_SUBSTITUTES = ("poison", "undef", "zeroinitializer")


def measure(text: str) -> Size:
    """Instructions, mentions of values, characters."""
    return count_instructions(text), text.count("%"), len(text)


def named(text: str) -> str:
    """Numbered values and labels with names: LLVM wants numbers without gaps, names may be missing."""
    lines = text.split("\n")
    spans: dict[Span, str] = {}
    for at, line in enumerate(lines):
        spans |= {(at, found.start(), found.end()): f"%v{found[1]}" for found in _NUMBER.finditer(blank(line))}
        if (label := _NUMBERED_LABEL.match(line)) is not None:
            spans[at, 0, label.end()] = f"v{label[1]}:"
    return "\n".join(_entries_labelled(apply(lines, [Edit(spans=spans)]).split("\n")))


def _entries_labelled(lines: list[str]) -> list[str]:
    """The first block of a function has a number of its own that is not printed: where a phi names it, it gets a
    label."""
    made: list[str] = []
    for at, line in enumerate(lines):
        made.append(line)
        if line.startswith("define ") and at + 1 < len(lines) and not LABEL.match(lines[at + 1]):
            end = next((n for n in range(at, len(lines)) if lines[n] == "}"), len(lines))
            body = lines[at:end]
            defined = {found[1] for one in body if (found := RESULT.match(one))} | set(VALUE.findall(line))
            defined |= {f"%{found[1]}" for one in body if (found := LABEL.match(one))}
            used = {name for one in body[1:] for name in VALUE.findall(blank(one))}
            loose = sorted(name for name in used - defined if re.fullmatch(r"%v\d+", name))
            if len(loose) == 1:
                made.append(f"{loose[0][1:]}:")
    return made


def reduce(search: Search, told: Callable[[str], None]) -> None:
    """Until nothing more can be taken out. Raises BudgetUsed."""
    search.take_if_alike(without_metadata(search.best))
    search.edits(top_level)
    # Names are longer than numbers, and no instruction can go without them.
    search.restate(named(search.best))

    def round_() -> None:
        told("instructions")
        search.edits(ended)
        search.edits(straightened)
        search.edits(unreachable)
        search.edits(joined)
        for word in _SUBSTITUTES:
            search.edits(lambda text, word=word: instructions(text, word))  # type: ignore[misc]
        told("declarations and attributes")
        search.edits(top_level)
        search.edits(groups)

    search.until_nothing(round_)


def without_metadata(text: str) -> str:
    """No metadata, neither attached nor listed, and no comments."""
    lines = text.split("\n")
    drop, spans = list[tuple[int, int]](), dict[Span, str]()
    for at, line in enumerate(lines):
        if re.match(r"![\w.]+ = ", line) or "call void @llvm.dbg." in line or line.startswith("    #dbg_"):
            drop.append((at, at))
        for found in re.finditer(r",? ![\w.]+ ![\w.]+(?:\([^()]*\))?", blank(line)):
            spans[at, found.start(), found.end()] = ""
        if line.rstrip() != (bare := blank(line).rstrip()) and len(bare) < len(line):
            spans[at, len(bare), len(line)] = ""
    return apply(lines, [Edit(tuple(drop), spans)])


def top_level(text: str) -> list[Edit]:
    """Everything outside of functions, line by line, and functions whole."""
    lines = text.split("\n")
    edits = []
    for at, line in enumerate(lines):
        if _DROPPED.match(line) or not line:
            edits.append(Edit(drop=((at, at),)))
        elif line.startswith("define "):
            edits.append(Edit(drop=((at, lines.index("}", at)),)))
    return edits


def groups(text: str) -> list[Edit]:
    """Groups of attributes and metadata where they are named, and attributes of functions and arguments."""
    edits = []
    for at, line in enumerate(text.split("\n")):
        bare = blank(line)
        for found in _GROUPS.finditer(bare):
            edits.append(Edit(spans=MappingProxyType({(at, found.start(), found.end()): ""})))
        if line.startswith(("define ", "declare ")) or " call " in line:
            for found in _ATTRIBUTE.finditer(bare):
                edits.append(Edit(spans=MappingProxyType({(at, found.start(), found.end()): ""})))
    return edits


def instructions(text: str, word: str) -> list[Edit]:
    """Instructions gone, ``word`` wherever their results were used."""
    lines = text.split("\n")
    edits = []
    for first, last in functions(lines):
        uses: dict[str, list[Span]] = {}
        for at in range(first, last):
            start = found.end() if (found := RESULT.match(lines[at])) else 0
            bare = blank(lines[at])
            for use in VALUE.finditer(bare, start):
                if not bare[: use.start()].endswith("label "):
                    uses.setdefault(use[0], []).append((at, use.start(), use.end()))
        for begin, end in ranges(lines, first, last):
            if _END.match(lines[begin]):
                continue
            result = RESULT.match(lines[begin])
            spans = dict.fromkeys(uses.get(result[1], ()), word) if result else {}
            edits.append(Edit(((begin, end),), MappingProxyType(spans)))
    return edits


def straightened(text: str) -> list[Edit]:
    """A jump to one target where there was a choice."""
    lines = text.split("\n")
    edits = []
    for function in functions(lines):
        for first, last in ranges(lines, *function):
            if _CHOICE.match(lines[first]):
                for target in dict.fromkeys(_TARGET.findall(" ".join(lines[first : last + 1]))):
                    new = MappingProxyType({first: (f"  br label {target}",)})
                    edits.append(Edit(((first, last),), before=new))
    return edits


def ended(text: str) -> list[Edit]:
    """Blocks that end in a return where they went on."""
    lines = text.split("\n")
    edits = []
    for begin, end in functions(lines):
        returns = "  ret void" if " void @" in lines[begin] else "  unreachable"
        for first, last in ranges(lines, begin, end):
            if re.match(r"\s+(?:br|switch) ", lines[first]):
                edits.append(Edit(((first, last),), before=MappingProxyType({first: (returns,)})))
    return edits


def unreachable(text: str) -> list[Edit]:
    """Blocks that no jump names."""
    lines = text.split("\n")
    edits = []
    for begin, end in functions(lines):
        starts = [at for at in range(begin + 1, end) if LABEL.match(lines[at])]
        for number, at in enumerate(starts):
            label = LABEL.match(lines[at])
            last = (starts[number + 1] if number + 1 < len(starts) else end) - 1
            assert label is not None
            named_ = re.compile(rf"label %{re.escape(label[1])}(?![\w$.-])")
            inside = range(at, last + 1)
            if at > begin + 1 and not any(named_.search(lines[n]) for n in range(begin, end) if n not in inside):
                edits.append(Edit(drop=((at, last),)))
    return edits


def joined(text: str) -> list[Edit]:
    """Blocks put behind the one right before them, where only that names them, or nothing does."""
    lines = text.split("\n")
    edits = []
    for begin, end in functions(lines):
        last = {stop: first for first, stop in ranges(lines, begin, end)}
        for at in range(begin + 1, end):
            if (label := LABEL.match(lines[at])) is None:
                continue
            named_ = re.compile(rf"%{re.escape(label[1])}(?![\w$.-])")
            jumps = [n for n in range(begin, end) if named_.search(lines[n])]
            if at == begin + 1 and not jumps:
                edits.append(Edit(drop=((at, at),)))
            if (first := last.get(at - 1 if lines[at - 1] else at - 2)) is None:
                continue
            alone = lines[first].strip() == f"br label %{label[1]}"
            if not jumps or (jumps == [first] and alone):
                edits.append(Edit(drop=((first, at),)))
    return edits
