"""Numbers and tuples of numbers: tiles, threads, stages, ids, counts, and how many of them there are.

What the message asks for comes first; else powers of two around the value, and multiples of what hardware counts in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from triage.harness.worker.cute import grammar
from triage.suggest.cute.constraints import distance, usual
from triage.suggest.cute.scene import CuteScene
from triage.suggest.cute.suspicion import suspicion
from triage.suggest.proposal import Move, Proposal

Position: TypeAlias = tuple[int, ...]
"""Indices into nested lists; () for the value itself."""
_FOLLOWED = 0.04
"""A number with the tensors that have this extent comes behind the number alone."""
_MOST = 8
"""Values of one number."""


def numbers(scene: CuteScene) -> Iterator[Proposal]:
    """Single changes of every number, alone and with the tensors of the same extent."""
    for name, value in scene.values.items():
        for position, number in leaves(value):
            for index, other in enumerate(_others(scene, number)[:_MOST]):
                prior = _prior(scene, name, number) + 0.12 * index
                changes = {name: changed(value, position, other)}
                why = f"{name} {_at(position)}{other} in place of {number}"
                far = distance(number, other) if number > 0 else 0.1 * index
                yield Proposal(changes, Move.NUMBER, prior, 1 + far, why)
                if followers := extents_followed(scene, number, other):
                    why = f"{why}, and {', '.join(followers)} with that extent"
                    yield Proposal({**changes, **followers}, Move.DATA, prior + _FOLLOWED, 2 + far, why)
        if isinstance(value, list):
            yield from _ranks(scene, name, value)


def leaves(value: Any, position: Position = ()) -> Iterator[tuple[Position, int]]:
    """The numbers of a value, and where they are in it."""
    if type(value) is int:
        yield position, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*position, index))


def changed(value: Any, position: Position, other: int) -> Any:
    """A value with another number at a position."""
    if not position:
        return other
    return [changed(item, position[1:], other) if index == position[0] else item for index, item in enumerate(value)]


def _at(position: Position) -> str:
    return f"[{']['.join(map(str, position))}] = " if position else "= "


def _others(scene: CuteScene, number: int) -> list[int]:
    constraints = scene.constraints
    if scene.over_limit and number > 1:
        largest = int(number * scene.share) if scene.share else number - 1
        fitting = [other for other in (largest, *usual(largest), *usual(number)) if 0 < other <= largest]
        return sorted(dict.fromkeys(fitting), key=lambda other: -other)[: _MOST - 2]
    if scene.exhausted and number > 1:
        return [other for factor in (16, 64, 4, 256) if (other := number // factor) > 0] or [1]
    if constraints.on_numbers and not constraints.met(number):
        return constraints.nearest(number)
    return usual(number)


def _prior(scene: CuteScene, name: str, number: int) -> float:
    constraints = scene.constraints
    prior = 0.9 + suspicion(scene, name)
    violates = constraints.on_numbers and not constraints.met(number)
    if violates:
        prior -= 0.6
    elif constraints.on_numbers:
        prior += 0.5
    if number in constraints.got:
        prior -= 0.4
    if scene.over_limit or scene.exhausted:
        prior -= 0.5
    if constraints.about_rank:
        prior += 0.5
    if number <= 1 and not violates:
        prior += 0.4  # An extent or a count of one is a way to leave something out.
    return prior


def _ranks(scene: CuteScene, name: str, value: list[Any]) -> Iterator[Proposal]:
    """More or fewer entries: ones behind what is there, or the last ones left out."""
    wanted = scene.constraints.rank
    for rank in (3, 2, 1, len(value) - 1, len(value) + 1):
        if rank < 1 or rank == len(value) or not all(type(item) is int for item in value):
            continue
        asked = wanted == rank
        prior = suspicion(scene, name) + (-0.4 if asked else 0.2 if scene.constraints.about_rank else 2.0)
        if not asked and wanted is not None:
            continue
        entries = [*value[:rank], *[1] * (rank - len(value))]
        yield Proposal({name: entries}, Move.NUMBER, prior, 1.5, f"{name} of {rank} numbers in place of {len(value)}")


def extents_followed(scene: CuteScene, number: int, other: int) -> dict[str, str]:
    """The types of tensors with this extent, with the other one; strides of what was compact stay compact."""
    if number <= 1 or other < 1:
        return {}
    followed: dict[str, str] = {}
    for name, tensor in scene.tensors:
        if number in tensor.shape and all(isinstance(extent, int) for extent in (*tensor.shape, *tensor.stride)):
            shape = tuple(other if extent == number else extent for extent in tensor.shape)
            followed[name] = str(replace(tensor, shape=shape, stride=_restrided(tensor, shape)))
    return followed


def _restrided(tensor: grammar.Tensor, shape: tuple[grammar.Extent, ...]) -> tuple[grammar.Extent, ...]:
    strides: dict[int, int] = {}
    expected = {"old": 1, "new": 1}
    for index in sorted(range(len(shape)), key=lambda index: (int(str(tensor.stride[index])), index)):
        old, new = int(str(tensor.stride[index])), int(str(tensor.stride[index]))
        strides[index] = expected["new"] if old == expected["old"] else new
        expected = {"old": old * int(str(tensor.shape[index])), "new": strides[index] * int(str(shape[index]))}
    return tuple(strides[index] for index in range(len(shape)))
