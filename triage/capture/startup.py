"""``TRITON_TRIAGE_GUARD=1``: guard every program of an interpreter that has triage installed.

A ``.pth`` file beside the installed package imports this module when the variable is set, before the program starts. It
only waits for an import of a compiler."""

import os
import sys
from typing import Any

from triage.capture.awaited import AwaitedCompilers


def _guard(compiler: Any) -> None:
    import atexit

    from triage.capture import live
    from triage.capture.service.start import Settings

    is_first = not live.is_guarded()
    live.begin(compiler, Settings())
    if is_first:
        atexit.register(live.say_at_exit, os.getpid())


def _note() -> None:
    import traceback

    print(f"triage: compiles are not guarded: {traceback.format_exc().splitlines()[-1]}", file=sys.stderr)


# ``triage run`` has set up the guard itself.
if "TRITON_TRIAGE_CAPTURE" not in os.environ:
    AwaitedCompilers(_guard, _note)
