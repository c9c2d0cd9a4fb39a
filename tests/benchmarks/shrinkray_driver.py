"""Shrink Ray on one file, in this process, with warm oracles as its interestingness test.

Run by path in an interpreter that has ``shrinkray`` and ``tree-sitter-python``: ``shrinkray_driver.py SETTINGS``, a
JSON object: ``file`` to reduce, ``oracle`` the command of one (see ``shrinkray_oracle.py``), ``jobs`` how many of them
run side by side, ``limit_s`` after which it is stopped. Prints one JSON object: the ``text`` that was left, ``calls``
of the test, ``compiles`` that they took, ``undecided`` ones among them, ``seconds`` until it ended and until the
``last`` improvement, and whether it ran to its own ``end``.

A call costs a line through a pipe here, where the command line would start a process each. The reducer is put together
as the command line does it. Its grammar comes from a wheel: it would download the same one at run time.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import tree_sitter
import tree_sitter_language_pack
import tree_sitter_python
import trio

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
tree_sitter_language_pack.get_language = lambda name: LANGUAGE

from shrinkray.problem import BasicReductionProblem, sort_key_for_initial  # noqa: E402
from shrinkray.reducer import ShrinkRay  # noqa: E402
from shrinkray.work import Volume, WorkContext  # noqa: E402


class Oracle:
    """One warm process, one question at a time."""

    def __init__(self, process: trio.Process) -> None:
        self.compiles = 0
        self._process = process
        self._buffer = b""

    @classmethod
    async def started(cls, command: list[str]) -> "Oracle":
        process = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return cls(process)

    async def answer(self) -> str:
        while b"\n" not in self._buffer:
            received = await self._process.stdout.receive_some()
            if not received:
                raise RuntimeError("the oracle ended: it could not tell")
            self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        verdict, self.compiles = json.loads(line)
        return verdict

    async def ask(self, text: str) -> str:
        await self._process.stdin.send_all(json.dumps(text).encode() + b"\n")
        return await self.answer()

    async def close(self) -> None:
        await self._process.stdin.aclose()
        await self._process.wait()


async def reduce(settings: dict) -> dict:
    initial = Path(settings["file"]).read_bytes()
    began = last = time.monotonic()
    oracles = [await Oracle.started(settings["oracle"]) for _ in range(settings["jobs"])]
    free_in, free_out = trio.open_memory_channel(len(oracles))
    for oracle in oracles:
        await oracle.answer()
        await free_in.send(oracle)
    calls = undecided = 0

    async def interesting(candidate: bytes) -> bool:
        nonlocal calls, undecided
        try:
            text = candidate.decode()
        except UnicodeDecodeError:  # No Python source either.
            return False
        oracle = await free_out.receive()
        # Whoever is no longer interested still has to take the answer out of the pipe.
        with trio.CancelScope(shield=True):
            try:
                verdict = await oracle.ask(text)
            finally:
                await free_in.send(oracle)
        calls += 1
        undecided += verdict == "unknown"
        return verdict == "same"

    async def improved(candidate: bytes) -> None:
        nonlocal last
        last = time.monotonic()

    problem = BasicReductionProblem(
        initial=initial,
        is_interesting=interesting,
        work=WorkContext(parallelism=settings["jobs"], volume=Volume.quiet),
        sort_key=sort_key_for_initial(initial),
    )
    problem.on_reduce(improved)
    with trio.move_on_after(settings["limit_s"]) as scope:
        await ShrinkRay(target=problem, treesitter_language="python").run()
    seconds = time.monotonic() - began
    for oracle in oracles:
        await oracle.close()
    return {
        "text": problem.current_test_case.decode(),
        "calls": calls,
        "compiles": sum(oracle.compiles for oracle in oracles),
        "undecided": undecided,
        "seconds": seconds,
        "last": last - began,
        "end": not scope.cancelled_caught,
    }


if __name__ == "__main__":
    print(json.dumps(trio.run(reduce, json.loads(sys.argv[1]))))
