"""Runs scripts that compile with Triton, each in a process of its own.

With the Triton beside the tests that process is a fork of one that has imported Triton, which takes as long as a dozen
small compiles. Run as a script, this module is the process that is forked. It imports nothing of triage.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ONE_AT_A_TIME = threading.Lock()
_STREAMS = (("in", os.O_RDONLY), ("out", os.O_WRONLY), ("err", os.O_WRONLY))


def run(
    script: str, text: str, python: str | Path = sys.executable, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``PYTHON SCRIPT``, with that text as its standard input, in a folder of its own."""
    variables = dict(os.environ if environment is None else environment)
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), script]
        if command[0] != sys.executable:
            return subprocess.run(
                command, input=text, capture_output=True, text=True, check=False, env=variables, cwd=folder
            )
        paths = {name: Path(folder, name) for name, _ in _STREAMS}
        for path in paths.values():
            path.touch()
        paths["in"].write_text(text)
        request = {"script": script, "folder": folder, "environment": variables}
        with _ONE_AT_A_TIME:
            server = _server()
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
        out, err = (paths[name].read_text(errors="replace") for name in ("out", "err"))
        return subprocess.CompletedProcess(command, code, out, err)


@functools.cache
def _server() -> subprocess.Popen[str]:
    # It is of no single test.
    environment = {name: value for name, value in os.environ.items() if name != "TRIAGE_TEST_MARK"}
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
        env={**environment, "PYTHONPATH": ""},
    )

    def end() -> None:
        server.communicate()

    atexit.register(end)
    return server


def _serve() -> None:
    import triton.compiler.code_generator  # noqa: F401

    # A fork reads its own standard input with the stream that nobody has read from.
    for line in os.fdopen(os.dup(0)):
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(request: dict[str, Any]) -> None:
    code = 1
    try:
        os.chdir(request["folder"])
        for number, (name, mode) in enumerate(_STREAMS):
            os.dup2(os.open(name, mode), number)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv[:] = [request["script"]]
        sys.path[0] = str(Path(request["script"]).parent)
        runpy.run_path(request["script"], run_name="__main__")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
