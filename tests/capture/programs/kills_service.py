"""Compiles a kernel, kills the service that has tried it, compiles another, and kills itself."""

import json
import os
import signal
import time
from pathlib import Path

from guarded import compile_one


def services():
    folder = json.loads(os.environ["TRITON_TRIAGE_GUARD_SERVICE"])["folder"]
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if folder in status.read_text() and "capture.service.main" in status.read_text():
                yield int(status.parent.name)
        except OSError:
            pass


print(*compile_one("no", 64))
pids = list(services())
for pid in pids:
    os.kill(pid, signal.SIGKILL)
time.sleep(0.3)
print("killed", len(pids))
print(*compile_one("no", 256), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
