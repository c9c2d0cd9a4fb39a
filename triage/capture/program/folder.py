"""The folder of the run: what is written there is whole, or not there; what cannot be written is not the program's."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
import traceback
from typing import Any, Dict, Optional

# Read once: the program may change its environment. Without ``triage run`` the guard says where (``use``).
_RUN = os.environ.get("TRITON_TRIAGE_CAPTURE", "")
_KEEP_ALL = bool(os.environ.get("TRITON_TRIAGE_CAPTURE_ALL"))
COMPILED, CACHED, UNGUARDED, AGAIN = "c", "h", "u", "a"
"""What a compile adds to the tally: compiled, or found in Triton's cache; and with a guard: not tried in isolation, or
refused because it had been refused before."""
_MOST_NOTES = 20
_numbers = itertools.count(1)
_noted = 0


def place() -> str:
    """Where it is; empty where nothing is to be kept."""
    return _RUN


def use(path: str) -> None:
    """Write there from now on; nothing where it is empty."""
    global _RUN  # noqa: PLW0603 - one process, one folder
    _RUN = path


def count(what: str, seconds: float = 0.0) -> None:
    """One compile more of a sort, and what it would have taken. One write, at the end of a file: nothing of another
    process is lost."""
    _append("tally", "%s %.3f\n" % (what, seconds) if seconds else what + "\n")


def reach(kernel: str, key: str) -> None:
    """A kernel was compiled, or found in Triton's cache under this key."""
    _append("reached", "%s %s\n" % (key, kernel))


def leave(said: Dict[str, Any]) -> None:
    """Where a process of the program was left by an exception."""
    _append("left", json.dumps(said) + "\n")


def note() -> None:
    """Keep the exception that is being handled, which is triage's own fault, for the end of the run."""
    global _noted  # noqa: PLW0603 - a fault that repeats with every compile shall not fill the disk
    _noted += 1
    if _noted <= _MOST_NOTES:
        _append("note-%d.txt" % os.getpid(), traceback.format_exc())


def _append(name: str, text: str) -> None:
    if not _RUN:
        return
    try:
        file = os.open(os.path.join(_RUN, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(file, text.encode("utf-8", "replace"))
        finally:
            os.close(file)
    except OSError:
        pass  # a full disk, or a folder that is gone: the program is not to notice


def write(files: Dict[str, str]) -> Optional[str]:
    """A new folder with these files, which has its name when it is whole. Returns its path; None where nothing is to
    be kept. Raises OSError."""
    if not _RUN:
        return None
    number = next(_numbers)
    while True:
        name = "%d-%d" % (os.getpid(), number)
        hidden, path = os.path.join(_RUN, "." + name), os.path.join(_RUN, name)
        try:
            os.mkdir(hidden)
            if not os.path.exists(path):
                break
            os.rmdir(hidden)
        except FileExistsError:
            pass
        number = next(_numbers)  # a process of another run had the same number
    for file, text in files.items():
        with open(os.path.join(hidden, file), "w", encoding="utf-8") as stream:
            stream.write(text)
    os.rename(hidden, path)
    return path


def discard(path: str) -> None:
    """Remove a case that is about to be captured again."""
    shutil.rmtree(path, ignore_errors=True)


def end(
    path: str, began: float, error: Optional[BaseException], where: str, tuned: bool = False, diagnosis: str = ""
) -> None:
    """Say how the compile in that folder ended; one that went well leaves nothing, unless all are to be kept.
    ``tuned``: it was tried for an autotuner; ``diagnosis``: what is known of the error already."""
    if error is None and not _KEEP_ALL:
        shutil.rmtree(path, ignore_errors=True)
        return
    said: Dict[str, Any] = {"where": where, "seconds": round(time.monotonic() - began, 3)}
    if error is None:
        said["how"] = "compiled"
    else:
        said.update(how="raised", type=type(error).__name__, text=_text(error), autotuning=tuned or _autotuning(error))
        if diagnosis:
            said["diagnosis"] = diagnosis
    hidden = os.path.join(path, ".ended.json")
    with open(hidden, "w", encoding="utf-8") as stream:
        json.dump(said, stream)
    os.rename(hidden, os.path.join(path, "ended.json"))


_MOST_TEXT = 20000


def _text(error: BaseException) -> str:
    """The exception in words; its own ``__str__`` may be what fails."""
    try:
        return str(error)[:_MOST_TEXT]
    except Exception:
        return "(no text)"


_SKIPPED = {"OutOfResources", "CompileTimeAssertionFailure", "PTXASError", "CompileFailed"}
"""What Triton's autotuner takes for a configuration that does not work (triton/runtime/autotuner.py); the last is the
guard's own."""


def _autotuning(error: BaseException) -> bool:
    """Whether an autotuner called, which goes on with its next configuration."""
    import sys

    tritons, helions = type(error).__name__ in _SKIPPED, _passed_over_by_helion(error)
    frame: Any = sys._getframe(1)
    while frame is not None and (tritons or helions):
        file = frame.f_code.co_filename
        if tritons and frame.f_code.co_name == "_bench" and "autotuner" in file:
            return True
        if tritons and _INDUCTORS in file:
            return True
        if helions and _HELIONS in file:
            return True
        frame = frame.f_back
    return False


_INDUCTORS = os.path.join("_inductor", "select_algorithm.py")
"""Where Inductor tries its templates, each a kernel of its own, and ignores those that do not work."""
_HELIONS = os.path.join("helion", "autotuner", "")


def _passed_over_by_helion(error: BaseException) -> bool:
    """What Helion's autotuner itself takes for a configuration that does not work."""
    import sys

    classify = getattr(sys.modules.get("helion.autotuner.logger"), "classify_triton_exception", None)
    return classify is not None and classify(error) != "raise"
