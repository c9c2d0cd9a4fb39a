"""The run folder: files appear there whole or not at all, and a write error never reaches the program."""

import atexit
import itertools
import json
import os
import shutil
import sys
import time
import traceback
from typing import Any, Dict, Optional

from . import interrupts, labels

# Read once: the program may change its environment. Without ``triage run`` the guard sets it (``use``).
_RUN = os.environ.get("TRITON_TRIAGE_CAPTURE", "")
_KEEP_ALL = bool(os.environ.get("TRITON_TRIAGE_CAPTURE_ALL"))
COMPILED, CACHED, UNGUARDED, AGAIN, NOTICE = "c", "h", "u", "a", "n"
"""First letters of a line in the tally: a configuration that compiled, or was found in Triton's cache, with its key
there and its kernel's name; with a guard also: not tried in isolation, for a reason, or refused once more, which saved
seconds; and something that its user should know."""
_MOST_NOTES = 20
_numbers = itertools.count(1)
_noted = 0
_unwritten: Dict[str, bytes] = {}
_MOST_UNWRITTEN = 1 << 16


def path() -> str:
    """Path of the run folder; empty when nothing is to be kept."""
    return _RUN


def use(path: str) -> None:
    """Write to this folder from now on; to none if empty."""
    global _RUN  # noqa: PLW0603 - one process, one folder
    _RUN = path


def count(what: str, detail: str) -> None:
    """Count one compile. A single append, so that concurrent processes lose nothing."""
    _append("tally", ("%s %s" % (what, " ".join(detail.split()))).strip() + "\n")


def leave(record: Dict[str, Any]) -> None:
    """Record where an exception ended a process of the program."""
    _append("left", json.dumps(record) + "\n")


def note() -> None:
    """Keep the exception being handled, a fault of triage's own, for the end of the run. One that a signal handler of
    the program raised is raised again."""
    global _noted  # noqa: PLW0603 - a fault that repeats with every compile shall not fill the disk
    interrupts.reraise()
    _noted += 1
    if _noted <= _MOST_NOTES:
        _append("note-%d.txt" % os.getpid(), traceback.format_exc())


def _append(name: str, text: str) -> None:
    """Append at once. A full disk, or a removed folder, must not affect the program: what cannot be written is tried
    again with the next, and when the process ends."""
    if not _RUN:
        return
    file = os.path.join(_RUN, name)
    before = _unwritten.pop(file, b"")
    waiting = before + text.encode("utf-8", "replace")
    try:
        with open(file, "ab", buffering=0) as stream:
            waiting = waiting[stream.write(waiting) or 0 :]
    except OSError:
        pass
    if waiting:
        if not before:
            atexit.register(_append, name, "")
        _unwritten[file] = waiting[-_MOST_UNWRITTEN:]


def write(files: Dict[str, str], label: str) -> str:
    """Write these files to a new folder, renamed to its final name when complete, and return its path. ``label``: what
    its name begins with (see ``labels.py``). Raises OSError."""
    for number in _numbers:
        name = labels.numbered(label, number)
        hidden, path = os.path.join(_RUN, "." + name), os.path.join(_RUN, name)
        try:
            os.mkdir(hidden)
            if not os.path.exists(path):
                break
            os.rmdir(hidden)  # a process of another run had the same number
        except FileExistsError:
            pass
    for file, text in files.items():
        with open(os.path.join(hidden, file), "w", encoding="utf-8") as stream:
            stream.write(text)
    os.rename(hidden, path)
    return path


def end(
    path: str, began: float, error: Optional[BaseException], where: str, tuned: bool = False, diagnosis: str = ""
) -> None:
    """Record how the compile of that folder ended; a successful one is removed, unless all are to be kept.

    ``tuned``: it was tried for an autotuner. ``diagnosis``: what is already known about the error."""
    if error is None and not _KEEP_ALL:
        # Another thread may end the process meanwhile: what is left shall not look like a failure.
        parent, name = os.path.split(path)
        hidden = os.path.join(parent, "." + name)
        try:
            os.rename(path, hidden)
            path = hidden
        except OSError:
            pass
        shutil.rmtree(path, ignore_errors=True)
        return
    record: Dict[str, Any] = {"where": where, "seconds": round(time.monotonic() - began, 3)}
    if error is None:
        record["how"] = "compiled"
    else:
        record.update(
            how="raised", type=type(error).__name__, text=_text(error), autotuning=tuned or _autotuning(error)
        )
        if diagnosis:
            record["diagnosis"] = diagnosis
    hidden = os.path.join(path, ".ended.json")
    with open(hidden, "w", encoding="utf-8") as stream:
        json.dump(record, stream)
    os.rename(hidden, os.path.join(path, "ended.json"))


_MOST_TEXT = 20000


def _text(error: BaseException) -> str:
    """The exception's text; its own ``__str__`` may fail."""
    try:
        return str(error)[:_MOST_TEXT]
    except Exception:
        return "(no text)"


_SKIPPED = {"OutOfResources", "CompileTimeAssertionFailure", "PTXASError", "CompileFailed"}
"""Exceptions that Triton's autotuner treats as a configuration that does not work (triton/runtime/autotuner.py); the
last is the guard's own."""


def _autotuning(error: BaseException) -> bool:
    """Whether an autotuner called, which continues with its next configuration."""
    tritons = type(error).__name__ in _SKIPPED
    classify = getattr(sys.modules.get("helion.autotuner.logger"), "classify_triton_exception", None)
    helions = classify is not None and classify(error) != "raise"
    frame: Any = sys._getframe(1)
    while frame is not None and (tritons or helions):
        file = frame.f_code.co_filename
        is_tritons = _INDUCTORS in file or (frame.f_code.co_name == "_bench" and "autotuner" in file)
        if (tritons and is_tritons) or (helions and _HELIONS in file):
            return True
        frame = frame.f_back
    return False


_INDUCTORS = os.path.join("_inductor", "select_algorithm.py")
"""Where Inductor tries its templates, each a kernel of its own, and ignores those that do not work."""
_HELIONS = os.path.join("helion", "autotuner", "")
