"""Run code once compilers are imported: now, later, or never."""

import sys
from collections.abc import Callable
from types import ModuleType

from triage.capture.inject._triton_triage_awaiting import AwaitingFinder

FOLLOWED = {"triton.compiler.compiler": "watch", "cutlass.cute": "cute.watch"}
"""By the module of a compiler after whose import it can be followed: what follows it, in ``program``. Also in
inject/sitecustomize.py, which imports nothing of triage."""


class AwaitedCompilers:
    """Calls ``then`` with each of these modules; calls ``note`` if that raises, so that the program is not affected."""

    def __init__(self, then: Callable[[ModuleType], None], note: Callable[[], None]) -> None:
        imported = [sys.modules[name] for name in FOLLOWED if name in sys.modules]
        self._finder = AwaitingFinder({name: then for name in FOLLOWED if name not in sys.modules}, note)
        sys.meta_path.insert(0, self._finder)
        for module in imported:
            try:
                then(module)
            except Exception:
                note()

    def stop(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
