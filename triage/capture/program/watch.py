"""Follows Triton's compiles: the case is on disk before the first stage runs, and removed when the last one succeeded.

These functions run within a context of this module (see ``enter.py``): ``compile``; the back end's ``add_stages``,
which every release from 3.0 on calls only on a cache miss, before it makes any IR; and
``CompiledKernel._init_handles``, which loads the binary. ``JITFunction.run`` reports launches that fail. With a guard,
cache look-ups of ``compile`` are followed as well."""

import os
import sys
import threading
import time
from types import FrameType, FunctionType, TracebackType
from typing import Any, List, Optional, Set, Type

from . import delivery, folder, guard, labels, refusal, service, tuning
from .enter import CannotEnter, enter, overhear

_state = threading.local()
_entered: Set[Any] = set()
_cache_followed = False


def install(compiler: Any) -> None:
    """Follow the compiles of this module (``triton.compiler.compiler``)."""
    _enter(compiler.compile, compiling)
    _enter(compiler.CompiledKernel._init_handles, loading)
    jit = sys.modules.get("triton.runtime.jit")  # there before the compiler, in every release so far
    if jit is not None:
        _enter(jit.JITFunction.run, launching, overhear)
    if os.environ.get("TRITON_TRIAGE_GUARD", "") not in ("", "0") and os.environ.get(service.VARIABLE):
        start_guard(compiler)


def start_guard(compiler: Any) -> None:
    """Guard this process's compiles from now on."""
    follow_cache(compiler)
    guard.start()


def follow_cache(compiler: Any) -> None:
    """Intercept cache look-ups of ``compile``, where the guard comes in."""
    global _cache_followed  # noqa: PLW0603 - one process, one Triton
    if _cache_followed:
        return
    _cache_followed = True
    tuning.install()
    original = compiler.get_cache_manager

    def get_cache_manager(*arguments: Any, **named: Any) -> Any:
        manager = original(*arguments, **named)
        try:
            caller = sys._getframe(1)
            if caller.f_code.co_name == "compile" and guard.is_wanted():
                _intercept(manager, caller)
        except Exception:
            folder.note()
        return manager

    compiler.get_cache_manager = get_cache_manager


def _intercept(manager: Any, caller: FrameType) -> None:
    """Wrap the manager's next look-up of a file group, which decides whether anything has to be compiled."""
    original = manager.get_group

    def get_group(filename: str) -> Any:
        vars(manager).pop("get_group", None)
        group = original(filename)
        if group and filename in group and not guard.always_compiles():
            return group
        return _guarded(manager, filename, caller) or group

    manager.get_group = get_group


def _guarded(manager: Any, filename: str, caller: FrameType) -> Any:
    """The group of files now in the cache; None if the program is to compile it itself. Raises what the guard
    raises."""
    local = caller.f_locals
    if guard.is_harmless(str(local["hash"])):
        return None
    try:
        current = _running()[-1]
        current.capture(caller)
        held = current.path is not None and os.path.exists(os.path.join(current.path, "case.json"))
    except Exception:
        folder.note()
        held = False
    if not held:
        guard.untried("the kernel could not be captured")
        return None
    assert current.path is not None
    pending = delivery.TritonCompile(local, current.path, manager, filename)
    collected = guard.collecting()
    if collected is not None:
        collected.append(pending)
        raise guard.Collected
    group = None
    try:
        guard.ask([pending])
        group = pending.settle()
    except Exception as error:
        if refusal.is_refusal(error):
            raise
        folder.note()
    current.missed = current.missed or group is not None
    return group


def _enter(function: Any, context: Any, how: Any = enter) -> None:
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or function in _entered:
        return
    _entered.add(function)
    try:
        how(function, context)
    except CannotEnter:
        folder.note()


def _running() -> List["compiling"]:
    """The compiles that this thread is in, innermost last."""
    running: List[compiling] = vars(_state).setdefault("running", [])
    return running


class compiling:  # noqa: N801 - used in a with statement
    """One call of ``compile``."""

    def __init__(self) -> None:
        self.path: Optional[str] = None
        self.missed = False
        self.began = 0.0

    def __enter__(self) -> None:
        try:
            _follow_backends()
            _running().append(self)
        except Exception:
            folder.note()

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if _running() and _running()[-1] is self:
            _running().pop()
        if isinstance(error, guard.Collected):
            return
        raised, diagnosis = error, ""
        if isinstance(error, Exception) and guard.is_wanted():
            diagnosis = guard.known_diagnosis(str(sys._getframe(1).f_locals.get("hash")))
            if guard.is_benchmarked():
                raised = refusal.of(error, diagnosis)
        try:
            if error is None:
                local = sys._getframe(1).f_locals
                configuration = "%s %s" % (local["hash"], labels.kernel_name(local["src"]))
                folder.count(folder.COMPILED if self.missed else folder.CACHED, configuration)
            elif self.path is None and not self.missed and not refusal.is_refusal(error):
                frame = sys._getframe(1)
                # It failed while computing the cache key, which already reads the functions that a kernel calls.
                if "backend" in frame.f_locals:
                    self.capture(frame)
            if self.path is not None:
                folder.end(self.path, self.began, raised, "compile", diagnosis=diagnosis)
        except Exception:
            folder.note()
        if raised is not None and raised is not error:
            raise raised

    def capture(self, frame: FrameType) -> None:
        """Capture the compile of this frame of ``compile``."""
        from . import case  # not needed by a program that finds everything in the cache

        self.began = time.monotonic()
        self.path = case.capture(frame)


class staging:  # noqa: N801
    """One call of a back end's ``add_stages``: its caller has the source and everything that is compiled."""

    def __enter__(self) -> None:
        try:
            running = _running()
            frame = sys._getframe(1).f_back
            while frame is not None and frame.f_code.co_name == "add_stages":  # a back-end that calls its base class
                frame = frame.f_back
            if not running or running[-1].missed or frame is None or frame.f_code.co_name != "compile":
                return  # the program runs the stages itself
            current = running[-1]
            current.missed = True
            current.began = time.monotonic()
            if current.path is None:  # else the guard has captured it
                current.capture(frame)
        except Exception:
            folder.note()

    def __exit__(self, *ended: Any) -> None:
        """Nothing to do: ``compile`` reports how it ended."""


class loading:  # noqa: N801
    """One call of ``CompiledKernel._init_handles``; most return at once."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:
            return
        try:
            frame = sys._getframe(1)
            _capture_loaded(frame.f_locals["self"], frame, error, "load")
            _state.reported = error
        except Exception:
            folder.note()


def launching() -> None:
    """A launch failed in ``JITFunction.run``: the launcher's exception has the driver's error
    (triton/backends/*/driver.c)."""
    try:
        error, frame = sys.exc_info()[1], sys._getframe(1)
        kernel = frame.f_locals.get("kernel")
        is_new = error is not None and error is not getattr(_state, "reported", None)
        if is_new and kernel is not None and "Triton Error [" in str(error):
            _capture_loaded(kernel, frame, error, "launch")
    except Exception:
        folder.note()


def _capture_loaded(kernel: Any, frame: FrameType, error: Optional[BaseException], where: str) -> None:
    from . import case

    began = time.monotonic()
    path = case.capture_loaded(kernel, frame)
    if path is not None:
        folder.end(path, began, error, where)


def _follow_backends() -> None:
    """Follow the back ends, which are known only once Triton is fully imported."""
    from triton.backends import backends

    for backend in backends.values():
        _enter(backend.compiler.add_stages, staging)
