"""Passes over LLVM IR as text: functions, blocks, instructions, attributes and metadata are removed."""

import re
from collections.abc import Iterator
from functools import partial

from triage.ir.llvm import LABEL, RESULT, VALUE, blank, count_instructions, functions
from triage.ir.llvm import instructions as ranges
from triage.ir.mlir import Span
from triage.minimize.ir.edits import LinePatch, TextProblem, apply, cut, mention, replaced, sweep
from triage.minimize.problem import Size

_NUMBER = re.compile(r"%(\d+)\b")
_NUMBERED_LABEL = re.compile(r"^(\d+):")
_TERMINATOR = re.compile(r"\s+(?:ret|br|switch|unreachable|indirectbr|resume|callbr|invoke)\b")
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
    lines = apply(lines, [LinePatch(spans=spans)]).split("\n")
    # A function's first block needs a label where a phi names it: its number is not printed.
    entries = {begin + 1: _entry_label(lines[begin:end]) for begin, end in functions(lines)}
    return apply(lines, [LinePatch(before={line: (entry,) for line, entry in entries.items() if entry})])


def _entry_label(body: list[str]) -> str | None:
    """The label of a function's first block, where it has none and one is named."""
    if LABEL.match(body[1]):
        return None
    defined = {match[1] for line in body if (match := RESULT.match(line))} | set(VALUE.findall(body[0]))
    defined |= {f"%{match[1]}" for line in body if (match := LABEL.match(line))}
    used = {name for line in body[1:] for name in VALUE.findall(blank(line))}
    loose = [name for name in used - defined if re.fullmatch(r"%v\d+", name)]
    return f"{loose[0][1:]}:" if len(loose) == 1 else None


def reduce(problem: TextProblem) -> None:
    """Reduce until nothing more can be removed. Raises BudgetUsed, EnvironmentFault."""
    problem.attempt(without_metadata(problem.best))
    sweep(problem, top_level)
    # Longer than numbers, but no instruction can be removed without names.
    problem.attempt(named(problem.best), larger=True)

    def once(first: bool) -> None:
        problem.step("instructions")
        sweep(problem, ended, straightened, unreachable, joined)
        sweep(problem, *(partial(instructions, word=word) for word in _SUBSTITUTES))
        problem.step("declarations and attributes")
        sweep(problem, top_level, groups)

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
        patches += [cut((at, *match.span())) for match in _GROUPS.finditer(bare)]
        if line.startswith(("define ", "declare ")) or " call " in line:
            patches += [cut((at, *match.span())) for match in _ATTRIBUTE.finditer(bare)]
    return patches


def instructions(text: str, word: str) -> list[LinePatch]:
    """Remove an instruction and replace its result by ``word``."""
    lines = text.split("\n")
    patches = []
    for begin, end in functions(lines):
        uses: dict[str, list[Span]] = {}
        for at in range(begin, end):
            result = RESULT.match(lines[at])
            bare = blank(lines[at])
            for use in VALUE.finditer(bare, result.end() if result else 0):
                if not bare.endswith("label ", 0, use.start()):
                    uses.setdefault(use[0], []).append((at, *use.span()))
        for first, last in ranges(lines, begin, end):
            if not _TERMINATOR.match(lines[first]):
                result = RESULT.match(lines[first])
                spans = dict.fromkeys(uses.get(result[1], ()), word) if result else {}
                patches.append(LinePatch(((first, last),), spans))
    return patches


def straightened(text: str) -> list[LinePatch]:
    """Replace a conditional jump by a jump to one of its targets."""
    lines = text.split("\n")
    return [
        replaced(first, last, f"  br label {target}")
        for function in functions(lines)
        for first, last in ranges(lines, *function)
        if _CHOICE.match(lines[first])
        for target in dict.fromkeys(_TARGET.findall(" ".join(lines[first : last + 1])))
    ]


def ended(text: str) -> list[LinePatch]:
    """Replace a jump at the end of a block by a return."""
    lines = text.split("\n")
    return [
        replaced(first, last, "  ret void" if " void @" in lines[begin] else "  unreachable")
        for begin, end in functions(lines)
        for first, last in ranges(lines, begin, end)
        if re.match(r"\s+(?:br|switch) ", lines[first])
    ]


def _labels(lines: list[str]) -> Iterator[tuple[tuple[int, int], int, str, list[int]]]:
    """Every label: the first and last line of its function, its own line, its name, and the lines that name it."""
    for begin, end in functions(lines):
        for at in range(begin + 1, end):
            if (label := LABEL.match(lines[at])) is not None:
                named = mention(f"%{label[1]}")
                yield (begin, end), at, label[1], [n for n in range(begin, end) if named.search(lines[n])]


def unreachable(text: str) -> list[LinePatch]:
    """Remove blocks that no jump names."""
    lines = text.split("\n")
    patches = []
    for (begin, end), at, label, _ in _labels(lines):
        last = next((n for n in range(at + 1, end) if LABEL.match(lines[n])), end) - 1
        jump = mention(f"label %{label}")
        outside = [*range(begin, at), *range(last + 1, end)]
        if at > begin + 1 and not any(jump.search(lines[n]) for n in outside):
            patches.append(LinePatch(drop=((at, last),)))
    return patches


def joined(text: str) -> list[LinePatch]:
    """Join a block to the one before it, where only that one names it, or nothing does."""
    lines = text.split("\n")
    first_of = {last: first for function in functions(lines) for first, last in ranges(lines, *function)}
    patches = []
    for (begin, _), at, label, mentions in _labels(lines):
        if at == begin + 1 and not mentions:
            patches.append(LinePatch(drop=((at, at),)))
        jump = first_of.get(at - 1 if lines[at - 1] else at - 2)
        if jump is None:
            continue
        alone = lines[jump].strip() == f"br label %{label}"
        if not mentions or (mentions == [jump] and alone):
            patches.append(LinePatch(drop=((jump, at),)))
    return patches
