"""Numbers that are written in the source, where the message says what a number must be, or how many there must be."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from triage.source.module import Edit, calls, entries
from triage.suggest.cute.numbers import leaves
from triage.suggest.rewrites.cute.subject import CuteSubject
from triage.suggest.rewrites.recipe import Rewritten

_MOST_VALUES = 3
_MOST_READ = 60
"""Expressions that are followed."""
_LAUNCH = ("grid", "block", "cluster")


def numbers_changed(subject: CuteSubject) -> Iterator[Rewritten]:
    """Literals on the failing line, or that it reads, that do not meet what the message asks for; nearest first."""
    yield from _ranks(subject)
    constraints = subject.scene.constraints
    if _is_parameter(subject):
        return
    if subject.scene.share is not None:
        yield from _smaller(subject, subject.scene.share)
    elif subject.scene.has_died:
        yield from _powers(subject)
    elif constraints.on_numbers:
        literals = [(node, value) for node, value in _read(subject) if not constraints.met(value)]
        # A number that the message shows is the one that it is about.
        if constraints.got:
            literals = [(node, value) for node, value in literals if value in constraints.got]
        for value in dict.fromkeys(value for _, value in literals):
            same = [node for node, held in literals if held == value]
            for other in constraints.nearest(value)[:_MOST_VALUES]:
                why = f"{other} is what the message asks for, and near {value}"
                yield from _changed(subject, dict.fromkeys(same, other), f"{other} in place of {value}", why)


def _is_parameter(subject: CuteSubject) -> bool:
    """A number of the configuration may be at fault: that is changed in the configuration."""
    scene = subject.scene
    numbers = [number for name in scene.reach.keys() & scene.values.keys() for _, number in leaves(scene.values[name])]
    if scene.share is None and not scene.has_died:
        numbers = [number for number in numbers if not scene.constraints.met(number)]
    return any(number > 1 for number in numbers)


def _smaller(subject: CuteSubject, share: float) -> Iterator[Rewritten]:
    """Extents of what is allocated, or threads of a block, by the share that the target has of them."""
    module = subject.module
    held = calls(module.tree, "allocate_tensor", "allocate_array", "launch")
    literals = [(node, value) for node, value in _read(subject, held) if value > 1]
    if "thread" in subject.text:
        literals = [(node, value) for node, value in literals if value == subject.scene.required]
    for value in sorted({value for _, value in literals}, reverse=True)[:_MOST_VALUES]:
        other = 1 << (max(int(value * share), 1).bit_length() - 1)
        same = [node for node, number in literals if number == value]
        why = f"what is asked for is over the limit of the target by a factor of {1 / share:.2f}"
        yield from _changed(subject, dict.fromkeys(same, other), f"{other} in place of {value}", why)


def _powers(subject: CuteSubject) -> Iterator[Rewritten]:
    """Counts with an odd factor, all scaled alike to powers of two: a partition of a swizzled layout over others dies
    without a message."""
    launches = calls(subject.module.tree, "launch")
    literals = [(node, value) for node, value in _read(subject, launches) if value > 2]
    for odd in sorted({odd for _, value in literals if (odd := value // (value & -value)) > 1}):
        scaled = {node: value for node, value in literals if value % odd == 0 and value > odd}
        power = 1 << odd.bit_length()
        for factor in (power, power // 2):
            changes = {node: value // odd * factor for node, value in scaled.items()}
            listed = ", ".join(
                dict.fromkeys(f"{value // odd * factor} in place of {value}" for value in scaled.values())
            )
            yield from _changed(subject, changes, listed, "powers of two divide the layout evenly")


def _changed(subject: CuteSubject, numbers: Mapping[ast.Constant, int], change: str, why: str) -> Iterator[Rewritten]:
    edits = [subject.module.replace(node, str(other)) for node, other in numbers.items()]
    results = f"size: {change}; see that the launch and the caller agree with it"
    yield from subject.rewritten(edits, change, why, results=results)


def _read(subject: CuteSubject, nodes: Iterable[ast.AST] | None = None) -> list[tuple[ast.Constant, int]]:
    """Integers of the failing statements, or of certain calls, and of the assignments that they read."""
    waiting: list[ast.AST] = [*(subject.failing if nodes is None else nodes)]
    seen: set[int] = set()
    numbers: dict[int, tuple[ast.Constant, int]] = {}
    while waiting and len(seen) < _MOST_READ:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        own = list(ast.walk(node))
        for child in own:
            if isinstance(child, ast.Constant) and type(child.value) is int:
                numbers[id(child)] = child, child.value
        for child in own:
            if isinstance(child, ast.Name | ast.Attribute) and (variable := subject.flow.variable(child)):
                waiting += subject.flow.sources(variable)
    return list(numbers.values())


def _ranks(subject: CuteSubject) -> Iterator[Rewritten]:
    """``cluster=(2, 1)`` where three numbers are asked for."""
    rank = subject.scene.constraints.rank
    if rank is None:
        return
    module = subject.module
    for items, name in _tuples(subject):
        if len(items) == rank:
            continue
        if len(items) < rank:
            edit = module.after(items[-1], ", 1" * (rank - len(items)))
        else:
            edit = Edit(module.span(items[rank - 1])[1], module.span(items[-1])[1], "")
        yield from subject.rewritten([edit], f"{name} of {rank} numbers", f"{name} has {rank} numbers")


def _tuples(subject: CuteSubject) -> Iterator[tuple[list[ast.expr], str]]:
    """Tuples that are written out: of a launch that the message names, else of numbers on the failing lines."""
    named = [word for word in _LAUNCH if word in subject.text]
    for word in (node for node in ast.walk(subject.module.tree) if isinstance(node, ast.keyword)):
        if word.arg in named and entries(word.value):
            yield entries(word.value), word.arg
    for statement in subject.failing if not named and subject.scene.lines else ():
        for node in ast.walk(statement):
            if (items := entries(node)) and all(isinstance(item, ast.Constant) for item in items):
                yield items, "a tuple"
