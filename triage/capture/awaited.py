"""Run code once Triton's compiler is imported: now, later, or never."""

import sys
from collections.abc import Callable
from types import ModuleType

from triage.capture.inject._triton_triage_awaiting import AwaitingFinder

_NAME = "triton.compiler.compiler"


class AwaitedCompiler:
    """Calls ``then`` with the module; calls ``note`` if that raises, so that the program is not affected."""

    def __init__(self, then: Callable[[ModuleType], None], note: Callable[[], None]) -> None:
        self._finder = AwaitingFinder({_NAME: then}, note)
        module = sys.modules.get(_NAME)
        if module is None:
            sys.meta_path.insert(0, self._finder)
            return
        try:
            then(module)
        except Exception:
            note()

    def stop(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
