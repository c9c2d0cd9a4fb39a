"""Entry points of the worker: nanny, fork server, one fresh compile, one timed launch."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """``nanny FD FOLDER``: the root of all processes, in triage's own interpreter. ``serve FD``: a toolchain
    server on that socket. ``fresh FILE FD``: one compile, result on that pipe. ``bench FILE FD``: one case
    launched and timed, likewise."""
    if arguments[0] == "serve":
        from . import server

        server.serve_toolchain(socket.socket(fileno=int(arguments[1])))
    elif arguments[0] == "fresh":
        from . import child

        request = json.loads(Path(arguments[1]).read_text())
        child.run_fresh(request, int(arguments[2]))
    elif arguments[0] == "bench":
        from . import bench

        bench.run(json.loads(Path(arguments[1]).read_text()), int(arguments[2]))
    elif arguments[0] == "nanny":
        from . import nanny

        nanny.serve(socket.socket(fileno=int(arguments[1])), Path(arguments[2]))
    else:
        sys.exit(f"unknown mode {arguments[0]!r}")
    os._exit(0)
