"""Causes, and what merely follows from them."""

from __future__ import annotations

import pytest

from triage.logs import findings

ASSERTION = "python: /b/A.cpp:1: void f(): Assertion `a' failed.\n"
OTHER = "python: /b/B.cpp:1: void g(): Assertion `b' failed.\n"
DIAGNOSTIC = "k.py:3:4: error: 'tt.dot' op bad\n"
SYMPTOM = "k.py:3:4: error: failed to legalize operation 'tt.load' that was explicitly marked illegal\n"
RUN_FAILED = "RuntimeError: PassManager::run failed\n"
ABORTED = "Aborted (core dumped)\n"
ENGINE = 'Traceback (most recent call last):\n  File "engine.py", line 3, in run\n    go()\nRuntimeError: engine died\n'

#: A log, and its findings in the log's order: (rank, what it follows).
STORIES = [
    ("a cause and its ends", DIAGNOSTIC + RUN_FAILED + ABORTED, [(1, None), (2, 1), (3, 1)]),
    ("a symptom after its cause", DIAGNOSTIC + SYMPTOM, [(1, None), (2, 1)]),
    ("the fatal one is the cause, whatever was printed first", DIAGNOSTIC + ASSERTION, [(2, 1), (1, None)]),
    ("two failures, each with its end", DIAGNOSTIC + RUN_FAILED + ASSERTION + ABORTED,
     [(1, None), (2, 1), (3, None), (4, 3)]),
    ("the same again", (ASSERTION + ABORTED) * 2, [(1, None), (2, 1), (3, 1), (4, 3)]),
    ("an end alone", ABORTED, [(1, None)]),
    ("somebody else's exception follows", ASSERTION + ABORTED + ENGINE, [(1, None), (3, 1), (2, 1)]),
    ("and is nothing alone", ENGINE, []),
    ("and nothing before", ENGINE + ASSERTION, [(2, 1), (1, None)]),
    ("commands are told apart", f"$ python a.py\n{ASSERTION}me@host:~/x$ python b.py\n{RUN_FAILED}",
     [(1, None), (2, None)]),
    ("tests of a summary are told apart", "FAILED a.py::t - KeyError: tl.x\nFAILED a.py::u - ValueError: tl.y\n",
     [(1, None), (2, None)]),
    ("requests are told apart", f"got prompt\n{ASSERTION}{ABORTED}[INFO] got prompt\n{RUN_FAILED}",
     [(1, None), (2, 1), (3, None)]),
    ("tests are told apart", f"_____ test_a _____\n{ASSERTION}_____ test_b _____\n{OTHER}{ABORTED}",
     [(1, None), (2, None), (3, 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "log", "expected"), STORIES, ids=[what for what, _, _ in STORIES])
def test_stories(what: str, log: str, expected: list[tuple[int, int | None]]) -> None:
    assert [(finding.rank, finding.follows) for finding in findings(log)] == expected
