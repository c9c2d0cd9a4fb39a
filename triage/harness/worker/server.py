"""Fork servers: a toolchain server imports the compiler, a target server has compiled one kernel for its target, a case
server has imported the user's module; each is forked from the one before and pays its cost once.

None of them compiles the user's kernels: that happens only in a fork of the case server.
"""

import gc
import socket
import sys
from functools import partial
from os import O_WRONLY, close, getpid
from os import open as open_fd
from pathlib import Path
from typing import Any, Dict, List

from . import child, compilers, errors, load, process, wire
from .loop import ForkServer
from .reads import Reads


def serve_toolchain(sock: socket.socket, name: str) -> None:
    """Import the compiler of that name, report that, and fork target servers until triage is gone."""
    try:
        compiler = compilers.chosen(name)
        environment = compiler.load_compiler()
    except BaseException as error:  # a broken installation raises anything
        wire.send(sock, {"op": "ready", "ok": False, "event": child.verdict(error)})
        return
    server = ForkServer(sock, {"serve": partial(_serve_target, compiler)})
    python = ".".join(str(part) for part in sys.version_info[:3])
    server.send({"op": "ready", "ok": True, "environment": {**environment, "python": python}})
    server.run()


def _serve_target(compiler: "compilers.CompilerModule", message: Dict[str, Any], fds: List[int]) -> None:
    process.redirect(fds[0])
    sock = socket.socket(fileno=fds[1])
    compiler.set_target(message)
    if message["warm"]:
        compiler.warm_up(message)
    server = ForkServer(sock, {"serve": partial(_serve_case, compiler)})
    server.send(
        {"op": "ready", "ok": True, "environment": compiler.tools(message), "triton_key": compiler.library_key()}
    )
    server.run()


def _serve_case(compiler: "compilers.CompilerModule", message: Dict[str, Any], fds: List[int]) -> None:
    process.redirect(fds[0])
    sock = socket.socket(fileno=fds[1])
    process.limit(message["memory_bytes"])
    path, me = Path(message["path"]), getpid()
    reads = Reads()
    with process.showing_stack():
        try:
            reads.begin()
            module, missing = load.load_module(path, message["sliced"], message["lent"])
        except BaseException as error:  # a user's module may raise SystemExit as well
            if getpid() == me:
                wire.send(sock, {"op": "ready", "ok": False, "event": child.verdict(error)})
                errors.print_chain(error)
            return
    if getpid() != me:
        return  # A fork that the module made has nothing to serve.
    read = reads.end(path)

    def compile_(request: Dict[str, Any], pipes: List[int]) -> bool:
        process.redirect(pipes[0])
        process.limit(request["memory_bytes"])
        if not child.run_forked(request, compiler, module, missing, pipes[1]):
            return False
        close(pipes[1])
        return True

    child.flush()
    process.redirect(open_fd("/dev/null", O_WRONLY))
    compiler.settle(module)
    gc.freeze()  # Objects made so far stay out of collections, so that children do not copy their pages.
    server = ForkServer(sock, {"compile": compile_})
    server.send({"op": "ready", "ok": True, "reads": read})
    server.run()
