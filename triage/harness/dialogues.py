"""Runs dialogues with the engine: each sends one request after the other, and decides on the next by the answer."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from typing import Generic, TypeAlias, TypeVar

from triage.harness.engine import Engine
from triage.harness.request import Attempt, Request

T = TypeVar("T")
Dialogue: TypeAlias = Generator[Request, Attempt, T]
"""Yields requests, is sent their attempts, and returns its result. The tags of its requests are replaced."""


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


class _Conversation(Generic[T]):
    def __init__(self, dialogues: Iterator[Dialogue[T]]) -> None:
        self._dialogues = dialogues
        self._waiting: dict[int, Dialogue[T]] = {}
        self._requests: deque[Request] = deque()
        self._results: deque[T] = deque()
        self._begun = 0

    def requests(self) -> Iterator[Request | None]:
        """What is to run next; None while every dialogue waits for an answer."""
        while True:
            if self._requests:
                yield self._requests.popleft()
            elif (dialogue := next(self._dialogues, None)) is not None:
                self._begun += 1
                self._continue(self._begun, dialogue, None)
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
        """The results that are new."""
        while self._results:
            yield self._results.popleft()

    def close(self) -> None:
        """End the dialogues that still wait."""
        for dialogue in self._waiting.values():
            dialogue.close()

    def _continue(self, number: int, dialogue: Dialogue[T], answer: Attempt | None) -> None:
        try:
            request = next(dialogue) if answer is None else dialogue.send(answer)
        except StopIteration as end:
            self._results.append(end.value)
            return
        self._waiting[number] = dialogue
        self._requests.append(replace(request, tag=(number, request.tag)))
