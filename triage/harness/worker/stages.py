"""Instrumentation of Triton's stage functions, pass managers and calls of ptxas: reports where a compile is.

Everything is installed once in the server, does nothing without a current recorder, and adds one small write
per stage. The compiler's behaviour is unchanged, except that ld.lld may be missing where only its version is queried.
"""

import functools
import os
import re
import subprocess
from io import open as open_file
from typing import Any, Callable, Dict, List

from . import cache_files, recorder

KNOWN_STAGES = frozenset({"ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco"})
ALLOCATED, CONVERTED = "allocated", "converted"
"""Points inside the stage llir at which a compile may stop: when shared and tensor memory are allocated, and after
MLIR's last pass."""
_BARRIERS = (("ttnvgpuir", "add_proxy_fence_insertion"), ("ttgpuir", "add_membar"))
_AFTER_ALLOCATION = (*_BARRIERS, ("ttgpuir", "add_to_llvmir"))
"""Dialect and adder of the passes of which the first follows on the allocations. Every release has the last; those that
insert barriers, from 3.5 on, take longer than everything before them."""
_ALLOCATIONS = {
    "shared": ("ttg.shared", "triton_gpu.shared"),
    "tmem_size": ("ttg.tensor_memory_size",),
    "num_warps": ("ttg.total-num-warps",),
}
"""Metadata that the stage llir reads from attributes of the module, with their names (up to 3.2 other ones)."""
_SHELL_LOG = re.compile(r"2> (\S+)\s*\Z")
_installed = False


class Stopped(BaseException):
    """The requested stage is done. Not an Exception: no handler before the worker may treat it as a failure."""

    def __init__(self, metadata: Dict[str, Any]) -> None:
        super().__init__()
        self.metadata = metadata


class _Reached(BaseException):
    """The requested point inside a stage is reached; ``manager`` has the passes that are still to be run."""

    def __init__(self, manager: Any = None) -> None:
        super().__init__()
        self.manager = manager


def install() -> None:
    """Wrap backends, pass managers and subprocess.run in this process (once)."""
    global _installed  # noqa: PLW0603 - one process, one Triton, one installation
    if _installed:
        return
    _installed = True
    from triton._C import libtriton
    from triton.backends import backends

    for backend in backends.values():
        wrap_stages(backend.compiler, _recorded)
        if backend.compiler.__name__ == "HIPBackend":
            _tolerate_missing_lld(backend.compiler)
    _wrap_pipelines(libtriton.ir.pass_manager)
    for name in ("nvidia", "amd"):
        passes = getattr(getattr(libtriton, name, None), "passes", None)
        for dialect, adder in _AFTER_ALLOCATION:
            _stop_at(ALLOCATED, getattr(passes, dialect, None), adder)
    _stop_at(CONVERTED, libtriton.llvm, "to_module")
    _wrap_subprocess()
    cache_files.install()


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
        left: List[Any] = []
        try:
            result = function(*arguments)
        except _Reached as reached:
            left.append(reached.manager)
        for manager in left:  # Outside the handler: what fails here has not been caused by it.
            if manager is not None:
                manager.run(arguments[0], *recorder.current.tag)
            raise Stopped({**arguments[1], **_allocated(arguments[0])})
        recorder.current.end()
        if name == recorder.current.until:
            _write(name, result)
            raise Stopped(arguments[1])
        return result

    return stage


def _write(stage: str, result: Any) -> None:
    """Leave what a stage made where Triton would have put it."""
    folder = os.path.join(os.environ["TRITON_CACHE_DIR"], "stopped")
    os.makedirs(folder, exist_ok=True)
    with open_file(os.path.join(folder, "kernel." + stage), "wb") as file:
        file.write(result if isinstance(result, bytes) else str(result).encode())


def _allocated(module: Any) -> Dict[str, int]:
    """Metadata that the attributes of a module state."""
    stated = {}
    for name, attributes in _ALLOCATIONS.items():
        values = [value for value in map(module.get_int_attr, attributes) if value is not None]
        if values:
            stated[name] = values[0]
    return stated


def _stop_at(point: str, holder: Any, name: str) -> None:
    """Stop a compile that goes only up to ``point`` where it calls this function, if this release has it. A pass
    manager that the function was to add a pass to is run with the passes that it has."""
    original = getattr(holder, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(first: Any, *arguments: Any, **named: Any) -> Any:
        if recorder.current is not None and recorder.current.until == point:
            raise _Reached(first if point == ALLOCATED else None)
        return original(first, *arguments, **named)

    setattr(holder, name, call)


def _wrap_pipelines(pass_manager: Any) -> None:
    original = pass_manager.run

    def run(self: Any, *arguments: Any) -> Any:
        if recorder.current is None:
            return original(self, *arguments)
        recorder.current.emit("pipeline", running=True)
        recorder.current.tag = arguments[1:]
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
