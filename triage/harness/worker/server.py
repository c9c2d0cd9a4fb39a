"""Fork servers: a toolchain server imports Triton, a target server has compiled one kernel for its target, a case
server has imported the user's module; each is forked from the one before and pays its cost once.

None of them compiles the user's kernels: that happens only in a fork of the case server.
"""

import gc
import os
import socket
import sys
import tempfile
from os import O_WRONLY, getpid
from os import open as open_fd
from pathlib import Path
from typing import Any, Dict, List

from . import adapter, child, errors, imports, load, process, stages, wire
from .loop import ForkServer
from .reads import Reads


def serve_toolchain(sock: socket.socket) -> None:
    """Import Triton, report that, and fork target servers until triage is gone."""
    try:
        import triton

        stages.install()
        version = triton.__version__
    except BaseException as error:  # a broken installation raises anything
        wire.send(sock, {"op": "ready", "ok": False, "event": child.verdict(error)})
        return
    server = ForkServer(sock, {"serve": _serve_target})
    python = ".".join(str(part) for part in sys.version_info[:3])
    server.send({"op": "ready", "ok": True, "environment": {"triton": version, "python": python}})
    server.run()


def _serve_target(message: Dict[str, Any], fds: List[int]) -> None:
    process.redirect(fds[0])
    sock = socket.socket(fileno=fds[1])
    environment = {}
    target = adapter.gpu_target(**message["target"])
    adapter.set_driver(target, message["limits"])
    imports.set_target(message["target"], message["device"])
    if message["triton_key"]:
        adapter.set_triton_key(message["triton_key"])
    if message["warm"]:
        _warm_up(target, message["folder"])
        # An MLIR context that is still alive owns threads, which a fork would not have: its end would hang there.
        gc.collect()
    if message["target"]["backend"] == "cuda":
        version = adapter.ptxas_version(message["target"]["arch"])
        if version:
            environment["ptxas"] = version
    server = ForkServer(sock, {"serve": _serve_case})
    server.send({"op": "ready", "ok": True, "environment": environment, "triton_key": adapter.triton_key()})
    server.run()


def _warm_up(target: Any, folder: str) -> None:
    """Compile the tiny kernel. If this target cannot be compiled for, the real kernel's failure shows it."""
    import triton

    from . import warm

    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "warm")
    tempfile.tempdir = folder
    try:
        triton.compile(adapter.make_source(warm.triage_warm_up, warm.CASE), target=target, options={"num_warps": 4})
    except Exception:  # unsupported targets, a missing ld.lld
        return
    finally:
        tempfile.tempdir = None


def _serve_case(message: Dict[str, Any], fds: List[int]) -> None:
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

    def compile_(request: Dict[str, Any], pipes: List[int]) -> int:
        process.redirect(pipes[0])
        process.limit(request["memory_bytes"])
        child.run_forked(request, module, missing, pipes[1])
        return 0

    child.flush()
    process.redirect(open_fd("/dev/null", O_WRONLY))
    load.hash_kernels(module)
    gc.freeze()  # Objects made so far stay out of collections, so that children do not copy their pages.
    server = ForkServer(sock, {"compile": compile_})
    server.send({"op": "ready", "ok": True, "reads": read})
    server.run()
