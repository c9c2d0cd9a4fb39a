"""The memory of processes below triage."""

from __future__ import annotations

import subprocess
import sys

from triage.harness import processes

FORKS = """
import os, time
data = b"x" * (64 << 20)
for _ in range(4):
    if not os.fork():
        time.sleep(60)
print("begun", flush=True)
time.sleep(60)
"""


def test_what_forks_share_counts_once_where_that_decides() -> None:
    process = subprocess.Popen([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
        try:
            assert processes.tree(process.pid, 1 << 40).memory_bytes > 5 * 64 << 20
            assert 64 << 20 < processes.tree(process.pid, 128 << 20).memory_bytes < 128 << 20
            assert processes.tree(process.pid, 1 << 20).memory_bytes > 64 << 20
        finally:
            processes.kill_tree(process.pid)
            process.wait()
