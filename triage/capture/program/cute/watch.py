"""Follows the compiles of CuTe DSL: the case is on disk before anything is traced, and removed when the back end has
made the binary.

These functions of the DSL run within a context of this module (see ``enter.py``), under the same names in every release
from 4.0 on: ``BaseDSL._func``, where a compile begins, of ``cute.compile`` and of a call of a host function alike; and
``Compiler.compile``, which makes the binary. What fails before it gets to ``_func`` (the DSL rewrites the user's syntax
tree first) is overheard. With a guard, a compile is tried in isolation before it begins."""

import inspect
import os
import sys
import threading
import time
from types import FrameType, FunctionType, TracebackType
from typing import Any, List, Optional, Set, Type

from .. import folder, guard, refusal, service
from ..enter import CannotEnter, enter, overhear
from . import case

_state = threading.local()
_entered: Set[Any] = set()
_REWRITES = ("_preprocess_and_execute", "_preprocess_and_replace_code")
"""What rewrites a function's syntax tree: up to 4.2, and from 4.3 on."""
_NO_DRIVER = (
    "CuTe DSL compiled a kernel and failed behind that: loading and launching it need NVIDIA's driver (libcuda), which "
    "is not on this machine; releases before 4.5 load a kernel already in cute.compile"
)


def install(cute: Any) -> None:
    """Follow the compiles of this module (``cutlass.cute``)."""
    dsl, compiler = sys.modules["cutlass.base_dsl.dsl"], sys.modules["cutlass.base_dsl.compiler"]
    _enter(dsl.BaseDSL._func, compiling)
    _enter(compiler.Compiler.compile, lowering)
    for name in _REWRITES:
        if hasattr(dsl.BaseDSL, name):
            _enter(getattr(dsl.BaseDSL, name), failing, overhear)
    compile_ = getattr(compiler, "CompileCallable", None)
    _enter(compile_._compile if compile_ is not None else compiler.compile, failing, overhear)
    if os.environ.get("TRITON_TRIAGE_GUARD", "") not in ("", "0") and os.environ.get(service.VARIABLE):
        start_guard(cute)


def start_guard(cute: Any) -> None:
    """Guard this process's compiles from now on."""
    guard.start()


def _enter(function: Any, context: Any, how: Any = enter) -> None:
    if not isinstance(function, FunctionType) or function in _entered:
        return
    _entered.add(function)
    try:
        how(function, context)
    except CannotEnter:
        folder.note()


def _running() -> List["compiling"]:
    """The compile that this thread is in, and calls of host functions within it."""
    running: List[compiling] = vars(_state).setdefault("running", [])
    return running


class compiling:  # noqa: N801 - used in a with statement
    """One call of ``_func``."""

    def __init__(self) -> None:
        self.call: Optional[case.HostCall] = None
        self.described: Optional[case.Described] = None
        self.path: Optional[str] = None
        self.is_outermost = self.is_built = False
        self.began = 0.0

    def __enter__(self) -> None:
        running = _running()
        self.is_outermost = not running
        running.append(self)
        if not self.is_outermost:  # traced as a part of the outermost
            return
        self.began = time.monotonic()
        try:
            frame = sys._getframe(1)
            self.call = _call(frame)
            self.described = case.describe(self.call, frame)
            if guard.is_wanted():
                self._try()
            else:
                self._write()
        except Exception as error:
            if refusal.is_refusal(error):
                running.pop()
                self._end(error, "compile")
                self._report(error)
                raise
            folder.note()

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if _running() and _running()[-1] is self:
            _running().pop()
        if not self.is_outermost:
            return
        try:
            if error is None:
                if not self.is_built:
                    self._end(None, "compile")
                    self._count(folder.CACHED)
            elif not self.is_built:
                self._end(error, "compile", self._diagnosis())
            elif not _has_driver():
                folder.count(folder.NOTICE, _NO_DRIVER)
            elif self.call is not None:
                self._write()
                self._end(error, "load" if self.call.named.get("compile_only") else "launch")
            self._report(error)
        except Exception:
            folder.note()

    def built(self) -> None:
        """The binary is complete: what fails from now on is not the compile."""
        self._end(None, "compile")
        self._count(folder.COMPILED)
        self.is_built = True

    def _write(self) -> None:
        if self.described is not None:
            self.path = folder.write(self.described.files, self.described.label)

    def _try(self) -> None:
        """Have the guard try the compile, unless it is known. Raises the refusal."""
        described = self.described
        # One that was refused before has its folder, and raises here.
        is_known = described is not None and guard.is_harmless(described.key)
        self._write()
        if described is None or self.path is None or not described.key:
            guard.untried("the kernel could not be captured")
        elif not is_known:
            pending = guard.Pending(described.kernel, described.key, self.path, "cute")
            guard.ask([pending])
            pending.settle()

    def _report(self, error: Optional[BaseException]) -> None:
        """``cute.compile`` is next to meet the exception, and forgets it."""
        if self.call is not None and self.call.named.get("compile_only"):
            _state.reported = error

    def _diagnosis(self) -> str:
        """What the guard knows of a compile that raises; empty without one."""
        return guard.known_diagnosis(self.described.key) if self.described is not None and guard.is_wanted() else ""

    def _end(self, error: Optional[BaseException], where: str, diagnosis: str = "") -> None:
        if self.path is not None and os.path.exists(self.path):
            folder.end(self.path, self.began, error, where, diagnosis=diagnosis)

    def _count(self, what: str) -> None:
        if self.described is not None and self.described.key:
            folder.count(what, "%s %s" % (self.described.key, self.described.kernel))


def _call(frame: FrameType) -> case.HostCall:
    """The call that this frame of ``_func`` compiles."""
    local = frame.f_locals
    # Up to 4.2 it gets the rewritten function, and its callers have the user's.
    caller = frame.f_back.f_locals.get("func") if frame.f_back is not None else None
    is_users = caller is not None and getattr(caller, "__name__", "") == getattr(local["funcBody"], "__name__", "")
    function = inspect.unwrap(caller if is_users and caller is not None else local["funcBody"])
    return case.HostCall(function, tuple(local["args"]), dict(local["kwargs"]), local["self"])


class lowering:  # noqa: N801
    """One call of ``Compiler.compile``."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            if error is None and _running():
                _running()[0].built()
        except Exception:
            folder.note()


def failing() -> None:
    """``cute.compile``, or the rewriting of a function, failed: before the compile began, if nothing is reported."""
    try:
        error, frame = sys.exc_info()[1], sys._getframe(1)
        if _running() or error is vars(_state).pop("reported", None):
            return
        is_compile = "args" in frame.f_locals
        call: Any = frame if is_compile else frame.f_back
        local = call.f_locals
        if not is_compile and local["kwargs"].get("compile_only"):
            _state.reported = error
        function, positional = local["func"], list(local["args"])
        if not inspect.isfunction(function):
            if inspect.ismethod(function):
                positional.insert(0, function.__self__)
                function = function.__func__
            else:
                positional.insert(0, function)
                function = type(function).__call__
        function = inspect.unwrap(function)
        began = time.monotonic()
        named = dict(local["kwargs"])
        described = case.describe(case.HostCall(function, tuple(positional), named, case.dsl_of(function)), call)
        if described is not None:
            folder.end(folder.write(described.files, described.label), began, error, "compile")
    except Exception:
        folder.note()


def _has_driver() -> bool:
    """Whether what is behind a compile can work at all."""
    import ctypes

    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True
