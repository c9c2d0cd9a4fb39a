"""Lines as they were before terminals, runners and test programs wrapped them."""

from __future__ import annotations

import io

import pytest

from triage.logs.clean import MAX_LINE, Cleaner
from triage.logs.reading import BLOCK, blocks


def clean_lines(log: str | bytes) -> list[str]:
    data = b"".join(blocks(io.BytesIO(log) if isinstance(log, bytes) else log))
    clean = Cleaner()
    return [clean(line) for line in data.removesuffix(b"\n").split(b"\n")] if data else []


WRAPPED = [
    ("a\r\nb\r\n", ["a", "b"]),
    ("10%\r20%\rdone\n", ["done"]),
    ("\x1b[1;31merror:\x1b[0m x", ["error: x"]),
    ("err\x1b[0mor: x", ["error: x"]),
    ("\x1b]8;;http://x\x07link\x1b]8;;\x07", ["link"]),
    ("\x1b_bk;t=1690000000000\x07x", ["x"]),
    ("_bk;t=1690000000000x", ["x"]),
    ("#14 21.46 error: x\n#14 0.512", ["error: x", ""]),
    ("#14 3.2 x", ["#14 3.2 x"]),
    (">> x\n>> > y\n>>> z", ["x", "y", ">>> z"]),
    ('{"ts": "2025-11-18T22:04:14Z", "level": "error", "attempt": 2, "msg": "LLVM ERROR: x"}', ["LLVM ERROR: x"]),
    ('{"level": "error", "msg": "LLVM ERROR: x", "ts": 1763.5, "logger": "worker"}', ["LLVM ERROR: x"]),
    ("{'message': 'LLVM ERROR: x'}", ["LLVM ERROR: x"]),
    ('{"a": "b", "other": "x"}', ['{"a": "b", "other": "x"}']),
    ("#14  0x00007f01 in f ()", ["#14  0x00007f01 in f ()"]),
    ("2025-03-01T12:00:00.1234567Z x", ["x"]),
    ("2025-03-01T12:00:00.1234567Z ##[error]x", ["x"]),
    ("build\tRun tests\t2025-03-01T12:00:00.1234567Z x", ["x"]),
    ("2024-05-22T12:43:46.962646Z 01E x", ["x"]),
    ("2024-05-22T12:43:46.962646Z 00O+x", ["x"]),
    ("2024-05-22T12:43:46.962646Z stderr F   x", ["  x"]),
    ("[2024-01-01T12:00:00.000Z]   x", ["  x"]),
    (
        '    Traceback (most recent call last):\n      File "k.py", line 3, in f\n        x\n    E: y\n  z',
        ["Traceback (most recent call last):", '  File "k.py", line 3, in f', "    x", "E: y", "  z"],
    ),
    (
        '     File "k.py", line 3, in f\n       x\n   E: y\n\nz',
        ['  File "k.py", line 3, in f', "    x", "E: y", "", "z"],
    ),
    ('85     x[grid](\n86   File "k.py", line 3, in f', ["85     x[grid](", '  File "k.py", line 3, in f']),
    ("12:00:00  x", ["x"]),
    ("web-1  | x", ["x"]),
    ("web_1  |   x", ["  x"]),
    ("trainer | x", ["x"]),
    ("[pod/train-abc/main] x", ["x"]),
    ("Nov 21 01:59:55 host python[123]: x", ["x"]),
    ("Nov 21  01:59:55.123  x", ["x"]),
    ("2026-05-06 11:03:10,805 ERROR worker.py:438 --   x", ["  x"]),
    (
        '* Traceback (most recent call last):\n*   File "k.py", line 3',
        ["Traceback (most recent call last):", '  File "k.py", line 3'],
    ),
    ("[2025-04-09 14:30:15,691 E 1473743 14] logging.cc:497: PC: @   0x7f  raise", ["PC: @   0x7f  raise"]),
    ("**error: a\nerror: b**", ["error: a", "error: b**"]),
    ("[12345.678901] Out of memory", ["Out of memory"]),
    ("(Worker pid=7) x", ["x"]),
    ("(EngineCore_0 pid=434697)     x", ["    x"]),
    ("(RayWorker pid=12, ip=10.0.0.1) x", ["x"]),
    ("(Worker_TP0 pid=6906) ERROR 07-28 05:37:45 [multiproc_executor.py:1018]   x", ["  x"]),
    ("ERROR 01-28 03:21:01 engine.py:387] x", ["x"]),
    ("[rank0]: x", ["x"]),
    ("[rank0]:[E728 05:37:45.123456789 ProcessGroupNCCL.cpp:123] x", ["x"]),
    ("[2025-07-28 05:37:45 TP0] x", ["x"]),
    ("E0728 05:37:45.123000 1234 torch/_inductor/x.py:500] [0/0] x", ["x"]),
    ("W0728 05:37:45.1 1234 env\\Lib\\site-packages\\torch\\_dynamo\\x.py:98] [3/1]   x", ["  x"]),
    ("E0728 05:37:45.123000 1234 D:\\a-b\\torch\\x.py:5] [0/0] x", ["x"]),
    ("[1,0]<stderr>:x", ["x"]),
    ("ERROR:root:x", ["x"]),
    ("2025-01-01 12:00:00,123 - my.name - ERROR - x", ["x"]),
    ("FAILED tests/a/test_b.py::test_c[1-2] - ValueError: x", ["ValueError: x"]),
    ("> > x", ["x"]),
    (">>> x", [">>> x"]),
    ("&#39;tt.dot&#39; op x &lt;y&gt; &amp;&amp; z", ["'tt.dot' op x <y> && z"]),
    ("<pre><code>x</code></pre>", ["x"]),
    ("`x`", ["x"]),
    ("**LLVM ERROR: x**", ["LLVM ERROR: x"]),
    ("- **x y** z", ["- **x y** z"]),
    ("- `x`", ["x"]),
    ("| k | LLVM ERROR: x |", ["LLVM ERROR: x"]),
    ("E   x\nE   \nE     y\nz", ["x", "", "  y", "z"]),
    ("E       x\nE           y", ["x", "    y"]),
    ("2025-03-01T12:00:00.1234567Z E   x", ["x"]),
    ("Error: x", ["Error: x"]),
    ("a\n\nb", ["a", "", "b"]),
    ("", []),
    ('{"log":"a \\"b\\"\\n","stream":"stderr"}\n{"log":"c\\td\\n","stream":"stderr"}\n', ['a "b"', "c\td"]),
    ('"a\\nb\\u001b[0mc\\\\nd"\n', ['"a', 'bc\\nd"']),
    ("\ufeffx", ["x"]),
]


@pytest.mark.parametrize(("text", "lines"), WRAPPED)
def test_wrappings_are_taken_away(text: str, lines: list[str]) -> None:
    assert clean_lines(text) == lines


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"],
)
def test_encodings(encoding: str) -> None:
    text = "LLVM ERROR: größer\r\n" * 3
    assert clean_lines(text.encode(encoding)) == ["LLVM ERROR: größer"] * 3


def test_lines_of_an_iterable_are_those_of_the_text() -> None:
    text = "a\n\nb\nc"
    assert b"".join(blocks(text.split("\n"))) == b"".join(blocks(text.splitlines(keepends=True)))


def test_a_line_without_end_is_cut() -> None:
    assert [len(line) for line in clean_lines("x" * (3 * MAX_LINE) + "\ny")] == [MAX_LINE, 1]


def test_blocks_are_whole_lines_and_bounded() -> None:
    text = "x" * (3 * BLOCK) + "\n" + "y" * 100 + "\n" + "z"
    found = list(blocks(text))
    assert all(len(block) <= 2 * BLOCK for block in found)
    assert all(block.endswith(b"\n") for block in found[:-1])
    assert b"".join(found).endswith(b"\n" + b"y" * 100 + b"\nz")


def test_a_log_in_one_string_of_json_has_lines() -> None:
    count = BLOCK // 8  # two blocks and a part
    text = '"' + "one line of many\\n" * count + '"'
    lines = clean_lines(text)
    assert len(lines) == count + 1
    assert lines[-2] == "one line of many"
