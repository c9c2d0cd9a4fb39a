"""Instrumentation of Triton's stage functions, pass managers and calls of ptxas: reports where a compile is.

Everything is installed once in the server, does nothing without a current recorder, and adds one small write
per stage. The compiler's behaviour is unchanged, except that ld.lld may be missing where only its version is queried.
"""

import functools
import re
import subprocess
from io import open as open_file
from typing import Any, Callable, Dict

from . import recorder

KNOWN_STAGES = frozenset({"ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco"})
_SHELL_LOG = re.compile(r"2> (\S+)\s*\Z")
_installed = False


class Stopped(BaseException):
    """The requested stage is done. Not an Exception: no handler before the worker may treat it as a failure."""

    def __init__(self, metadata: Dict[str, Any]) -> None:
        super().__init__()
        self.metadata = metadata


def install() -> None:
    """Wrap backends, pass managers and subprocess.run in this process (once)."""
    global _installed  # noqa: PLW0603 - one process, one Triton, one installation
    if _installed:
        return
    _installed = True
    from triton._C.libtriton import ir
    from triton.backends import backends

    for backend in backends.values():
        wrap_stages(backend.compiler, _recorded)
        if backend.compiler.__name__ == "HIPBackend":
            _tolerate_missing_lld(backend.compiler)
    _wrap_pipelines(ir.pass_manager)
    _wrap_subprocess()


def wrap_stages(compiler: Any, wrap: Callable[[str, Any], Any]) -> None:
    """Replace each stage function of a back-end's class by ``wrap(name, function)``."""
    original = compiler.add_stages

    @functools.wraps(original)
    def add_stages(self: Any, stages: Dict[str, Any], *rest: Any, **named: Any) -> Any:
        result = original(self, stages, *rest, **named)
        stages.update({name: wrap(name, function) for name, function in stages.items()})
        return result

    compiler.add_stages = add_stages


def _recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def stage(*arguments: Any) -> Any:
        if recorder.current is None or name not in KNOWN_STAGES:
            return function(*arguments)
        recorder.current.begin(name)
        result = function(*arguments)
        recorder.current.end()
        if name == recorder.current.until:
            raise Stopped(arguments[1])
        return result

    return stage


def _wrap_pipelines(pass_manager: Any) -> None:
    original = pass_manager.run

    def run(self: Any, *arguments: Any) -> Any:
        if recorder.current is None:
            return original(self, *arguments)
        recorder.current.emit("pipeline", running=True)
        result = original(self, *arguments)
        # Not in a finally: a pipeline that raised is where the compile failed.
        recorder.current.emit("pipeline", running=False)
        return result

    pass_manager.run = run


def _wrap_subprocess() -> None:
    """Triton runs ptxas -v with its report sent to a file that it deletes: read the file in between."""
    original = subprocess.run

    @functools.wraps(original)
    def run(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        if recorder.current is not None and arguments and "ptxas" in str(arguments[0]):
            recorder.current.ptxas_log += _report(arguments[0], named.get("stderr"))
        return result

    subprocess.run = run


def _report(command: Any, stderr: Any) -> str:
    path = getattr(stderr, "name", None)
    if path is None and isinstance(command, str):
        # Up to 3.2 the command is a shell line that ends in "2> FILE".
        redirected = _SHELL_LOG.search(command)
        path = redirected.group(1) if redirected else None
    if not isinstance(path, str):
        return ""
    try:
        with open_file(path, errors="replace") as file:
            return file.read()
    except Exception:  # whatever a module under test has made of files: a report costs no compile
        return ""


def _tolerate_missing_lld(compiler: Any) -> None:
    """Up to 3.4 the AMD back-end asks ld.lld for its version to build the cache key, before anything compiles. Without
    an ld.lld every stage up to amdgcn still works; only the link at the end needs it, and says so."""
    original = compiler.hash

    def hash_(self: Any) -> Any:
        try:
            return original(self)
        except Exception:  # "ROCm linker not found" is a bare Exception
            return "no-ld.lld-%s" % (self.target,)

    compiler.hash = hash_
