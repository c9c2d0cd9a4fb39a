"""Bits of a copy atom together with the values of a thread, within the alignment that the verifier states.

``alignment (16 bits) does not meet requirement (128 bits)``: a side of the copy is aligned to 16 bits at every request
of 128. Where that is shared memory, no alignment of an argument changes it: the layout does, or a request no wider than
its alignment. An asynchronous copy has no request below 32 bits (PTX ISA, cp.async).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from triage.harness.worker.cute import grammar
from triage.legality import vector_copy
from triage.suggest.cute.elements import retyped
from triage.suggest.cute.scene import CuteScene
from triage.suggest.proposal import Move, Proposal

_REFUSED = re.compile(
    r"(?P<side>\b(?:dst|src|S|D)\b )?ptr alignment(?: \((?P<aligned>\d+) bits\))? does not meet requirement"
)
_OPERAND = re.compile(r'!cute\.memref<\w+, \w+(?:, align<(?P<align>\d+)>)?[^"<>]*, "(?P<layout>[^"]+)">')
"""Source and destination in the operation, where the message does not name the side: up to 4.3."""
_SCATTERED = re.compile(r"cannot vectorize copy")
"""The values of a thread do not lie side by side, on a side that the verifier does not name."""
_ATOM = re.compile(r"atom\.(?P<atom>\w+)<(?P<dtype>\w+)[^>]*?(?P<bits>\d+) b>")
_WORD = "f32"
"""The element type whose single elements an asynchronous copy can move."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A copy that the verifier refused. ``aligned``: bits, that of an element where the release does not state it."""

    destination: bool
    aligned: int
    bits: int
    dtype: str
    asynchronous: bool

    @property
    def width(self) -> int:
        """Bits of an element."""
        return grammar.width(self.dtype)


def refused(scene: CuteScene) -> Refused | None:
    """The copy that the message is about; None for other failures."""
    message, atom = _REFUSED.search(scene.text), _ATOM.search(scene.text)
    if atom is None or atom["dtype"].lower() not in grammar.DTYPES:
        return None
    dtype = atom["dtype"].lower()
    asynchronous = "async" in atom["atom"]
    if message is None:
        scattered = _SCATTERED.search(scene.text) is not None
        return Refused(False, grammar.width(dtype), int(atom["bits"]), dtype, asynchronous) if scattered else None
    bits, side = int(atom["bits"]), (message["side"] or "").strip()
    if message["aligned"]:
        return Refused(side in ("dst", "D"), int(message["aligned"]), bits, dtype, asynchronous)
    sides = [_aligned(match, dtype) for match in _OPERAND.finditer(scene.text)][:2]
    destination = len(sides) == 2 and sides[1] < bits
    aligned = min(sides, default=grammar.width(dtype))
    return Refused(destination, aligned, bits, dtype, asynchronous)


def _aligned(operand: re.Match[str], dtype: str) -> int:
    """Bits that a thread's values are aligned to on one side: those of an element, unless they lie side by side."""
    width = grammar.width(dtype)
    stride = re.search(r"\d+", operand["layout"].rpartition(":")[2])
    scattered = stride is not None and stride[0] != "1"
    return width if scattered or not operand["align"] else 8 * int(operand["align"])


def copies(scene: CuteScene) -> Iterator[Proposal]:
    """Requests within the alignment; for an asynchronous copy of narrow elements, elements of 32 bits."""
    copy = refused(scene)
    bits = sorted(scene.flow.passed_as("num_bits_per_copy") & scene.values.keys())
    numbers = [name for name in bits if type(scene.values[name]) is int]
    if copy is None or not numbers:
        return
    for width in reversed(vector_copy.widths(scene.case.target, copy.asynchronous)):
        if copy.width <= width <= min(copy.aligned, copy.bits) and width < copy.bits:
            changes = _requests(scene, numbers, width, copy.width)
            why = (
                f"requests of {width // 8} bytes, as far as both sides are aligned; {copy.bits // width} times as many"
            )
            yield Proposal(changes, Move.NUMBER, 0.1, 1.5, why)
    word = grammar.width(_WORD)
    if copy.asynchronous and copy.width < word:
        names = [name for name, tensor in scene.tensors if tensor.dtype == copy.dtype]
        data = {**retyped(scene, names, _WORD), **dict(_requests(scene, numbers, word, word).items())}
        if names:
            why = (
                f"{_WORD} element by element: requests of 4 bytes, the least of an asynchronous copy, "
                f"{copy.bits // copy.width} times as many; {word // copy.width} times the shared memory of {copy.dtype}"
            )
            yield Proposal(data, Move.DATA, 0.4, 6, why)


def hopeless(scene: CuteScene, proposal: Proposal) -> bool:
    """The rule refuses it: requests that are wider than the alignment, of which no changed layout is the cause."""
    copy = refused(scene)
    if copy is None or not copy.destination:
        return False
    bits = scene.flow.passed_as("num_bits_per_copy") & proposal.changes.keys()
    widths = vector_copy.widths(scene.case.target, copy.asynchronous)
    tensors = dict(scene.tensors)
    if any(name in tensors for name in proposal.changes) and bits:
        return False
    if bits:
        asked = [proposal.changes[name] for name in bits]
        return any(number not in widths or number > copy.aligned for number in asked)
    only_alignment = all(
        name in tensors and _shape(scene, str(value)) == _shape(scene, str(scene.case.signature[name]))
        for name, value in proposal.changes.items()
    )
    return only_alignment or proposal.changes.keys() == {"target"} or _is_values(scene, proposal, copy)


def _is_values(scene: CuteScene, proposal: Proposal, copy: Refused) -> bool:
    """Only the values a thread, of requests that stay as wide."""
    return all(scene.values.get(name) == copy.bits // copy.width for name in proposal.changes)


def _shape(scene: CuteScene, text: str) -> tuple[object, ...]:
    parsed = grammar.parse(text)
    return (parsed.dtype, parsed.shape, parsed.stride) if isinstance(parsed, grammar.Tensor) else (text,)


def _requests(scene: CuteScene, names: list[str], width: int, element: int) -> dict[str, int]:
    """Requests of a width, and the parameters that count the values of a thread."""
    changes = {name: width for name in names if scene.values[name] != width}
    held = {scene.values[name] // grammar.width(tensor.dtype) for name in names for _, tensor in scene.tensors}
    for name, value in scene.values.items():
        if type(value) is int and value > 1 and name not in names and value in held and name in scene.reach:
            changes[name] = width // element
    return changes


def unhelpful(scene: CuteScene) -> Iterator[str]:
    """What the rule says of changes that do not help, in sentences."""
    copy = refused(scene)
    if copy is None or not copy.destination:
        return
    widths = vector_copy.widths(scene.case.target, copy.asynchronous)
    wide = [width for width in widths if copy.aligned < width < copy.bits]
    if wide:
        yield (
            f"by the rule (vector-copy), requests of {_listed(wide)} bits do not help: the destination's layout "
            f"places a thread's values {copy.aligned} bits aligned"
        )
    if copy.asynchronous and copy.aligned < min(widths, default=0):
        yield (
            f"by the rule (cp-async), requests of {copy.aligned} bits do not exist: an asynchronous copy moves "
            f"{_listed(list(widths))} bits"
        )
    yield (
        "a larger align= of the argument does not help: what is not aligned is the destination, where the layout of "
        "shared memory scatters the values of a thread"
    )


def _listed(numbers: list[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last
