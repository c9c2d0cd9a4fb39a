"""Passes over LLVM IR as text: functions, blocks, instructions, attributes and metadata are removed."""

from __future__ import annotations

import re
from functools import partial
from types import MappingProxyType

from triage.ir.llvm import LABEL, RESULT, VALUE, blank, count_instructions, functions
from triage.ir.llvm import instructions as ranges
from triage.ir.mlir import Span
from triage.minimize.ir.edits import LinePatch, TextProblem, apply, sweep
from triage.minimize.problem import Size

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
    """The text with names for numbered values and labels: LLVM requires numbers without gaps, but not names."""
    lines = text.split("\n")
    spans: dict[Span, str] = {}
    for at, line in enumerate(lines):
        spans |= {(at, match.start(), match.end()): f"%v{match[1]}" for match in _NUMBER.finditer(blank(line))}
        if (label := _NUMBERED_LABEL.match(line)) is not None:
            spans[at, 0, label.end()] = f"v{label[1]}:"
    return "\n".join(_entries_labelled(apply(lines, [LinePatch(spans=spans)]).split("\n")))


def _entries_labelled(lines: list[str]) -> list[str]:
    """The lines with a label for a function's first block where a phi names it: its number is not printed."""
    labelled: list[str] = []
    for at, line in enumerate(lines):
        labelled.append(line)
        if line.startswith("define ") and at + 1 < len(lines) and not LABEL.match(lines[at + 1]):
            end = next((n for n in range(at, len(lines)) if lines[n] == "}"), len(lines))
            body = lines[at:end]
            defined = {match[1] for other in body if (match := RESULT.match(other))} | set(VALUE.findall(line))
            defined |= {f"%{match[1]}" for other in body if (match := LABEL.match(other))}
            used = {name for other in body[1:] for name in VALUE.findall(blank(other))}
            loose = sorted(name for name in used - defined if re.fullmatch(r"%v\d+", name))
            if len(loose) == 1:
                labelled.append(f"{loose[0][1:]}:")
    return labelled


def reduce(problem: TextProblem) -> None:
    """Reduce until nothing more can be removed. Raises BudgetUsed, EnvironmentFault."""
    problem.attempt(without_metadata(problem.best))
    sweep(problem, top_level)
    # Longer than numbers, but no instruction can be removed without names.
    problem.attempt(named(problem.best), larger=True)

    def once(first: bool) -> None:
        problem.step("instructions")
        sweep(problem, ended)
        sweep(problem, straightened)
        sweep(problem, unreachable)
        sweep(problem, joined)
        for word in _SUBSTITUTES:
            sweep(problem, partial(instructions, word=word))
        problem.step("declarations and attributes")
        sweep(problem, top_level)
        sweep(problem, groups)

    problem.rounds(once)


def without_metadata(text: str) -> str:
    """The text without metadata, attached or listed, and without comments."""
    lines = text.split("\n")
    drop, spans = list[tuple[int, int]](), dict[Span, str]()
    for at, line in enumerate(lines):
        if re.match(r"![\w.]+ = ", line) or "call void @llvm.dbg." in line or line.startswith("    #dbg_"):
            drop.append((at, at))
        for match in re.finditer(r",? ![\w.]+ ![\w.]+(?:\([^()]*\))?", blank(line)):
            spans[at, match.start(), match.end()] = ""
        if line.rstrip() != (bare := blank(line).rstrip()) and len(bare) < len(line):
            spans[at, len(bare), len(line)] = ""
    return apply(lines, [LinePatch(tuple(drop), spans)])


def top_level(text: str) -> list[LinePatch]:
    """Remove a line outside functions, or a whole function."""
    lines = text.split("\n")
    patches = []
    for at, line in enumerate(lines):
        if _DROPPED.match(line) or not line:
            patches.append(LinePatch(drop=((at, at),)))
        elif line.startswith("define "):
            patches.append(LinePatch(drop=((at, lines.index("}", at)),)))
    return patches


def groups(text: str) -> list[LinePatch]:
    """Remove references to attribute groups and metadata, and attributes of functions and arguments."""
    patches = []
    for at, line in enumerate(text.split("\n")):
        bare = blank(line)
        for match in _GROUPS.finditer(bare):
            patches.append(LinePatch(spans=MappingProxyType({(at, match.start(), match.end()): ""})))
        if line.startswith(("define ", "declare ")) or " call " in line:
            for match in _ATTRIBUTE.finditer(bare):
                patches.append(LinePatch(spans=MappingProxyType({(at, match.start(), match.end()): ""})))
    return patches


def instructions(text: str, word: str) -> list[LinePatch]:
    """Remove an instruction and replace its result by ``word``."""
    lines = text.split("\n")
    patches = []
    for first, last in functions(lines):
        uses: dict[str, list[Span]] = {}
        for at in range(first, last):
            start = match.end() if (match := RESULT.match(lines[at])) else 0
            bare = blank(lines[at])
            for use in VALUE.finditer(bare, start):
                if not bare[: use.start()].endswith("label "):
                    uses.setdefault(use[0], []).append((at, use.start(), use.end()))
        for begin, end in ranges(lines, first, last):
            if _END.match(lines[begin]):
                continue
            result = RESULT.match(lines[begin])
            spans = dict.fromkeys(uses.get(result[1], ()), word) if result else {}
            patches.append(LinePatch(((begin, end),), MappingProxyType(spans)))
    return patches


def straightened(text: str) -> list[LinePatch]:
    """Replace a conditional jump by a jump to one of its targets."""
    lines = text.split("\n")
    patches = []
    for function in functions(lines):
        for first, last in ranges(lines, *function):
            if _CHOICE.match(lines[first]):
                for target in dict.fromkeys(_TARGET.findall(" ".join(lines[first : last + 1]))):
                    new = MappingProxyType({first: (f"  br label {target}",)})
                    patches.append(LinePatch(((first, last),), before=new))
    return patches


def ended(text: str) -> list[LinePatch]:
    """Replace a jump at the end of a block by a return."""
    lines = text.split("\n")
    patches = []
    for begin, end in functions(lines):
        returns = "  ret void" if " void @" in lines[begin] else "  unreachable"
        for first, last in ranges(lines, begin, end):
            if re.match(r"\s+(?:br|switch) ", lines[first]):
                patches.append(LinePatch(((first, last),), before=MappingProxyType({first: (returns,)})))
    return patches


def unreachable(text: str) -> list[LinePatch]:
    """Remove blocks that no jump names."""
    lines = text.split("\n")
    patches = []
    for begin, end in functions(lines):
        starts = [at for at in range(begin + 1, end) if LABEL.match(lines[at])]
        for number, at in enumerate(starts):
            label = LABEL.match(lines[at])
            last = (starts[number + 1] if number + 1 < len(starts) else end) - 1
            assert label is not None
            named_ = re.compile(rf"label %{re.escape(label[1])}(?![\w$.-])")
            inside = range(at, last + 1)
            if at > begin + 1 and not any(named_.search(lines[n]) for n in range(begin, end) if n not in inside):
                patches.append(LinePatch(drop=((at, last),)))
    return patches


def joined(text: str) -> list[LinePatch]:
    """Join a block to the one before it, where only that one names it, or nothing does."""
    lines = text.split("\n")
    patches = []
    for begin, end in functions(lines):
        last = {stop: first for first, stop in ranges(lines, begin, end)}
        for at in range(begin + 1, end):
            if (label := LABEL.match(lines[at])) is None:
                continue
            named_ = re.compile(rf"%{re.escape(label[1])}(?![\w$.-])")
            jumps = [n for n in range(begin, end) if named_.search(lines[n])]
            if at == begin + 1 and not jumps:
                patches.append(LinePatch(drop=((at, at),)))
            if (first := last.get(at - 1 if lines[at - 1] else at - 2)) is None:
                continue
            alone = lines[first].strip() == f"br label %{label[1]}"
            if not jumps or (jumps == [first] and alone):
                patches.append(LinePatch(drop=((first, at),)))
    return patches
