"""A log in bounded memory: its beginning and its end."""

from collections import deque


class BoundedLog:
    """Keeps the first ``head`` and the last ``tail`` bytes; counts those dropped between them.

    The cause of a failure is near one of the two: the first error near the beginning of what went wrong, which
    for a compile is near the end of what was printed.
    """

    def __init__(self, head: int = 1 << 20, tail: int = 4 << 20) -> None:
        self._head_limit, self._tail_limit = head, tail
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.dropped = 0

    def write(self, data: bytes) -> None:
        """Append bytes."""
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            oldest = self._tail.popleft()
            self._tail_size -= len(oldest)
            self.dropped += len(oldest)

    def text(self) -> str:
        """The beginning and the end, with a line between them for the number of bytes dropped."""
        head = self._head.decode("utf-8", "replace")
        tail = b"".join(self._tail).decode("utf-8", "replace")
        if not self.dropped:
            return head + tail
        return f"{head}\n[... {self.dropped} bytes not kept ...]\n{tail}"
