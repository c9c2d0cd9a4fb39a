"""Runs dialogues with the engine: each sends one request after another, and chooses the next by the answer."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from triage.harness.engine import Engine
from triage.harness.request import Attempt, Request

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Together:
    """Dialogues that another dialogue waits for; see :func:`together`."""

    dialogues: Sequence["Dialogue[Any]"]


Dialogue: TypeAlias = Generator[Request | Together, Any, T]
"""Yields requests, is sent their attempts, and returns its result. The tags of its requests are replaced."""


def together(dialogues: Sequence[Dialogue[T]]) -> Dialogue[list[T]]:
    """The results of dialogues that do not depend on each other, in their order, for one that needs all of them. Each
    has its own requests under way; an exception of one ends the whole conversation."""
    results: list[T] = yield Together(dialogues)
    return results


def converse(engine: Engine, dialogues: Iterable[Dialogue[T]]) -> Iterator[T]:
    """The results of dialogues, in the order in which these end. The next dialogue begins when there is room for
    another job and none of those that have begun waits to be continued.

    An interrupt ends all dialogues; the results until then come before KeyboardInterrupt is raised."""
    conversation = _Conversation(iter(dialogues))
    try:
        for attempt in engine.run(conversation.requests()):
            conversation.take(attempt)
            yield from conversation.finished()
    except KeyboardInterrupt:
        yield from conversation.finished()
        raise
    finally:
        conversation.close()
    yield from conversation.finished()


@dataclass(frozen=True, slots=True)
class _Speaker:
    """A dialogue, and the callback for its result."""

    dialogue: Dialogue[Any]
    ended: Callable[[Any], None]


class _Conversation(Generic[T]):
    def __init__(self, dialogues: Iterator[Dialogue[T]]) -> None:
        self._dialogues = dialogues
        self._unbegun: deque[_Speaker] = deque()
        self._waiting: dict[int, _Speaker] = {}
        self._requests: deque[Request] = deque()
        self._results: deque[T] = deque()
        self._begun = 0

    def requests(self) -> Iterator[Request | None]:
        """Requests to run next; None while every dialogue waits for an answer."""
        while True:
            if self._requests:
                yield self._requests.popleft()
            elif (speaker := self._next()) is not None:
                self._begun += 1
                self._continue(self._begun, speaker, None)
            elif self._waiting:
                yield None
            else:
                return

    def take(self, attempt: Attempt) -> None:
        """Continue the dialogue that an attempt answers."""
        number, tag = attempt.request.tag
        answer = replace(attempt, request=replace(attempt.request, tag=tag))
        self._continue(number, self._waiting.pop(number), answer)

    def finished(self) -> Iterator[T]:
        """Results since the last call."""
        while self._results:
            yield self._results.popleft()

    def close(self) -> None:
        """End the dialogues that still wait."""
        for speaker in self._waiting.values():
            speaker.dialogue.close()

    def _next(self) -> _Speaker | None:
        if self._unbegun:
            return self._unbegun.popleft()
        dialogue = next(self._dialogues, None)
        return None if dialogue is None else _Speaker(dialogue, self._results.append)

    def _continue(self, number: int, speaker: _Speaker, answer: Any) -> None:
        try:
            yielded = speaker.dialogue.send(answer)
        except StopIteration as end:
            speaker.ended(end.value)
            return
        self._waiting[number] = speaker
        match yielded:
            case Request():
                self._requests.append(replace(yielded, tag=(number, yielded.tag)))
            case Together(dialogues):
                self._gather(number, dialogues)

    def _gather(self, number: int, dialogues: Sequence[Dialogue[Any]]) -> None:
        """Begin dialogues, and continue the one that waits for them with their results."""
        results = dict[int, Any]()

        def ended(index: int, result: Any) -> None:
            results[index] = result
            if len(results) == len(dialogues):
                self._continue(number, self._waiting.pop(number), [results[each] for each in range(len(dialogues))])

        self._unbegun += [_Speaker(dialogue, partial(ended, index)) for index, dialogue in enumerate(dialogues)]
        if not dialogues:
            self._continue(number, self._waiting.pop(number), [])
