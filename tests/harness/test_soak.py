"""A thousand crashes through one engine: nothing adds up."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import kernel_cases
import psutil
import pytest
from conftest import Traces

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Request
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome

CRASHES = 1000
SERVERS = 4
REMOVED_S = 10.0
WARM_UP = 100
"""After these the servers are up, and Python's own caches are filled."""

MODULE = """
import ctypes, os, subprocess, sys
import triton
import triton.language as tl


def compile_(source, **named):
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print("chatter " * 10_000, flush=True)
    ends = [os.abort, lambda: ctypes.string_at(0), lambda: os._exit(1), lambda: sys.exit(2)]
    ends[named["options"]["num_warps"] % 4]()


triton.compile = compile_


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    pass
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_thousand_crashes_leave_nothing(tmp_path: Path, traces: Traces, toolchains: Toolchains) -> None:
    path = tmp_path / "crashing.py"
    path.write_text(MODULE)
    base = kernel_cases.case(path, "add", {"x_ptr": "*fp32", "y_ptr": "*fp32"})
    base = replace(base, constexprs=frozen({"BLOCK": 64}))

    def requests() -> Iterator[Request]:
        for number in range(CRASHES):
            case: Case = replace(base, options=frozen({"num_warps": number}))
            yield Request(case, toolchains.default(), Limits(60, 2 << 30), tag=number)

    me = psutil.Process()
    ended: Counter[str] = Counter()
    files = memory = temporary = 0
    with Engine(jobs=2) as engine:
        for count, attempt in enumerate(engine.run(requests()), start=1):
            assert isinstance(attempt.result, Outcome)
            ended[attempt.result.signal or f"{attempt.result.status.value} {attempt.result.exit_code}"] += 1
            if count == WARM_UP:
                files, memory = me.num_fds(), me.memory_info().rss
                temporary = sum(len(names) for _, _, names in os.walk(traces.temporary))
        assert me.num_fds() <= files + 4
        assert me.memory_info().rss - memory < 32 << 20
        traces.assert_no_strays()
        # Nanny, toolchain, target and module, and nothing else once the nanny's child has removed the folders.
        until = time.monotonic() + REMOVED_S
        while len(traces.processes()) > SERVERS and time.monotonic() < until:
            time.sleep(0.05)
        assert len(traces.processes()) == SERVERS
        assert sum(len(names) for _, _, names in os.walk(traces.temporary)) <= temporary + 8
    quarter = CRASHES // 4
    assert ended == {"SIGABRT": quarter, "SIGSEGV": quarter, "crash 1": quarter, "error 1": quarter}
    traces.assert_gone()
