"""Follows Triton's compiles: the case is on disk before the first stage runs, and gone when the last has ended well.

What is followed runs within a context of this module (see ``enter.py``): ``compile``; the back-end's ``add_stages``,
which every release from 3.0 on calls on a cache miss only, before it makes any IR; and the ``_init_handles`` of
``CompiledKernel``, which loads the binary.
"""

from __future__ import annotations

import sys
import threading
import time
from types import FunctionType, TracebackType
from typing import Any, List, Optional, Set, Type

from . import folder
from .enter import CannotEnter, enter

_state = threading.local()
_entered: Set[Any] = set()


def install(compiler: Any) -> None:
    """Follow the compiles of this module (``triton.compiler.compiler``)."""
    _enter(compiler.compile, compiling)
    _enter(compiler.CompiledKernel._init_handles, loading)


def _enter(function: Any, context: Any) -> None:
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or function in _entered:
        return
    _entered.add(function)
    try:
        enter(function, context)
    except CannotEnter:
        folder.note()


def _running() -> List["compiling"]:
    """The compiles that this thread is in, the innermost last."""
    found: Optional[List[compiling]] = getattr(_state, "running", None)
    if found is None:
        found = _state.running = []
    return found


class compiling:  # noqa: N801 - stands in a with statement
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
        try:
            if _running() and _running()[-1] is self:
                _running().pop()
            if error is None:
                folder.count(folder.COMPILED if self.missed else folder.CACHED)
            elif self.path is None and not self.missed:
                self._capture_early(sys._getframe(1).f_locals)
            if self.path is not None:
                folder.end(self.path, self.began, error, "compile")
        except Exception:
            folder.note()

    def _capture_early(self, local: Any) -> None:
        """What a kernel calls is looked at for the cache's key already, and may be wrong."""
        if "backend" in local:
            from . import case

            options = local["options"]
            given = options if isinstance(options, dict) else vars(options or local["backend"].parse_options({}))
            self.began = time.monotonic()
            self.path = case.capture(local["src"], local["target"], given, local["backend"], sys._getframe(2))


class staging:  # noqa: N801
    """One call of a back-end's ``add_stages``: its caller has the source and all that is compiled."""

    def __enter__(self) -> None:
        try:
            running = _running()
            frame = sys._getframe(1).f_back
            while frame is not None and frame.f_code.co_name == "add_stages":  # a back-end that calls its base class
                frame = frame.f_back
            if not running or running[-1].missed or frame is None or frame.f_code.co_name != "compile":
                return  # somebody drives the stages himself
            current, local = running[-1], frame.f_locals
            current.missed = True
            current.began = time.monotonic()
            from . import case  # a program that finds all in the cache has no use for it

            given = vars(local["options"])
            current.path = case.capture(local["src"], local["target"], given, local["backend"], frame)
        except Exception:
            folder.note()

    def __exit__(self, *ended: Any) -> None:
        """Nothing: how it ended is for ``compile`` to tell."""


class loading:  # noqa: N801
    """One call of ``CompiledKernel._init_handles``: most of them return at once."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:
            return
        try:
            from . import case

            frame = sys._getframe(1)
            kernel = frame.f_locals["self"]
            began = time.monotonic()
            path = case.capture_loaded(kernel.src, kernel.metadata, frame)
            if path is not None:
                folder.end(path, began, error, "load")
        except Exception:
            folder.note()


def _follow_backends() -> None:
    """Back-ends are known once Triton is imported, which it is not yet when its compiler is."""
    from triton.backends import backends

    for backend in backends.values():
        _enter(backend.compiler.add_stages, staging)
