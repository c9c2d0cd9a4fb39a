"""One compile, in an expendable process. It reports through its recorder."""

import errno
import os
import sys
import tempfile
from contextlib import suppress
from faulthandler import enable as enable_faulthandler
from io import open as open_file
from os import mkdir
from os.path import dirname
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any, Callable, Dict, List

from . import adapter, causes, compilers, errors, ir_text, load, own_code, process, recorder, values
from .cute import grammar
from .reads import Reads

_MACHINE = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE,
    errno.EFBIG,  # ulimit -f
    errno.EMFILE, errno.ENFILE,  # ulimit -n
    errno.EAGAIN,  # ulimit -u, or the group's limit on processes
}  # fmt: skip
"""Faults of the machine, or limits of its own, and not of the kernel: triage could not tell."""
_BAD_INPUT = (adapter.BadCase, load.BadKernel, values.BadValue, ir_text.CannotRead, grammar.BadType)
_NO_THREAD = "can't start new thread"
_NO_MEMORY = (os.strerror(errno.ENOMEM), "std::bad_alloc", "failed to map segment from shared object")
_NO_LLD = "ld.lld not found"


def run_forked(
    request: Dict[str, Any], compiler: "compilers.CompilerModule", module: Any, missing: List[str], result: int
) -> bool:
    """Compile in a fork of a case server that has imported ``module``, with stand-ins for the packages ``missing``.
    True where that returned, and this process can compile something else, if it is to (``again``); that is reported."""
    began = perf_counter()
    _make_folder(request["folder"])
    recording = _prepare(request, result)
    surroundings = _surroundings()
    recording.begin("source")
    returned = _guarded(request, lambda: (compiler, module, missing), recording)
    if not (request.get("again") and returned and _surroundings() == surroundings and not process.children()):
        return False
    # The most resident memory is that of all compiles so far.
    used = {"seconds": perf_counter() - began, "max_rss_bytes": getrusage(RUSAGE_SELF).ru_maxrss * 1024}
    return recording.emit("ended", stages=recording.stages, **used)


def _surroundings() -> Any:
    """What a compile may change of its process that another one would see."""
    folder = None
    with suppress(OSError):  # It may have been removed.
        folder = os.getcwd()
    return dict(os.environ), folder


def run_fresh(request: Dict[str, Any], result: int) -> None:
    """Compile in this fresh process, import included."""
    recording = _prepare(request, result)

    def imported() -> Any:
        with own_code.during("importing the compiler"):
            compiler = compilers.chosen(request["compiler"])
            compiler.load_compiler()
            compiler.set_target(request)
        path = Path(request["path"])
        # The compile's time starts with this event.
        recording.begin("source")
        recording.emit("importing")
        reads = Reads()
        reads.begin()
        module, missing = load.load_module(path, request["sliced"], request["lent"])
        recording.emit("imported", reads=reads.end(path))
        return compiler, module, missing

    _guarded(request, imported, recording)


def _make_folder(folder: str) -> None:
    """Make the folder of this compile here and not in triage: on ext4 that takes as long as a small stage."""
    try:
        mkdir(folder)
    except FileNotFoundError:  # A compile has removed the folder of all.
        with suppress(FileExistsError):
            mkdir(dirname(folder), 0o700)
        mkdir(folder)


def _prepare(request: Dict[str, Any], result: int) -> recorder.Recorder:
    recording = recorder.current = recorder.Recorder(result, request["token"], request["until"])
    folder = request["folder"]
    os.environ["TRITON_CACHE_DIR"] = folder + "/cache"
    os.environ["TMPDIR"] = folder
    os.environ.update(request.get("environment", {}))
    tempfile.tempdir = None  # Python caches the server's.
    # The Python stack at a fatal signal names the stage even where LLVM prints nothing; apart from the log,
    # whose text is the compiler's alone.
    enable_faulthandler(file=open_file(folder + "/python-stack.txt", "w"))  # lives until the end
    return recording


def _guarded(request: Dict[str, Any], prepared: Callable[[], Any], recording: recorder.Recorder) -> bool:
    """Compile, and report how that ended; whether it returned. Raises recorder.Unreported."""
    returned = False
    try:
        compiler, loaded, missing = prepared()
        for name in missing:
            recording.emit("missing", package=name)
        compiler.compile(request, loaded, recording)
        returned = True
    except BaseException as error:  # SystemExit and KeyboardInterrupt as well
        event = verdict(error)
        recording.conclude(**event)
        if "errors" in event:
            errors.print_chain(error)
    flush()
    return returned


def flush() -> None:
    """Write out what was printed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):  # They may be objects of the kernel's module.
            stream.flush()


def verdict(error: BaseException) -> Dict[str, Any]:
    """The event for what ended a compile, or the import of the kernel's module: ``undecided``, else ``error``, with
    ``no_memory`` where an allocation was refused."""
    stand_in = causes.of(error)
    if stand_in is not None:
        return {"ev": "undecided", "reason": stand_in, "input_error": False}
    # An API that does not exist on this release is how the case fails here.
    if isinstance(error, _BAD_INPUT) and not getattr(error, "lacking", False):
        return {"ev": "undecided", "reason": str(error), "input_error": True}
    described = errors.describe(error)
    links = list(errors.chain(error, suppressed=True))
    no_memory = any(_refused_memory(link) for link in links)
    if not no_memory:
        for link in links:
            if isinstance(link, own_code.Fault) or _is_the_machines(link):
                return {"ev": "undecided", "reason": errors.message(link), "input_error": False}
        if any(_NO_LLD in link["message"] for link in described):
            return {"ev": "undecided", "reason": "no-lld", "input_error": False}
    return {"ev": "error", "errors": described, "no_memory": no_memory}


def _is_the_machines(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _MACHINE
    return isinstance(error, RuntimeError) and errors.message(error) == _NO_THREAD


def _refused_memory(error: BaseException) -> bool:
    """MemoryError and what is derived from it (numpy); ENOMEM; torch, the dynamic linker and C++ have it in a text."""
    if isinstance(error, (OSError, ImportError, RuntimeError)):
        return any(text in errors.message(error) for text in _NO_MEMORY)
    return isinstance(error, MemoryError)
