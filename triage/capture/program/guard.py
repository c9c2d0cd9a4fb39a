"""Each compile that misses the cache is tried by the guard's service first, in isolation.

What goes well there lands in Triton's cache through the program's own cache manager, under the key that the program
is about to look up; what would end the program raises; and what is an exception there as well, or could not be tried,
the program compiles itself.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from types import FunctionType
from typing import Any, Dict, List, Optional, Tuple

from . import deciding, folder, refusal
from .service import VARIABLE, Gone, Service

_PRINTING = frozenset(
    {
        "TRITON_KERNEL_DUMP",
        "TRITON_KERNEL_OVERRIDE",
        "TRITON_ALWAYS_COMPILE",
        "TRITON_REPRODUCER_PATH",
        "TRITON_ENABLE_LLVM_DEBUG",
        "TRITON_LLVM_DEBUG_ONLY",
        "MLIR_ENABLE_DUMP",
        "LLVM_IR_ENABLE_DUMP",
        "NVPTX_ENABLE_DUMP",
        "AMDGCN_ENABLE_DUMP",
        "USE_IR_LOC",
        "USE_TTGIR_LOC",
    }
)
"""With these set a compile does more than give a binary: the program has to do that itself."""

_state = threading.local()
_refused: Dict[str, "Refused"] = {}
"""By Triton's own key, which has source, configuration, target and release in it."""
_harmless: Dict[str, str] = {}
"""Keys that kill nothing, and that the program compiles itself all the same; with what is known of those that raise."""
_lock = threading.Lock()
_service: Optional[Service] = None
_active = 0


class Collected(BaseException):
    """A compile that went no further than to be asked for."""


class Refused:
    """A configuration that is not to be compiled in this process. ``met``: how often the program asked for it."""

    def __init__(self, kernel: Any, answer: Dict[str, Any], path: Optional[str]) -> None:
        self.kernel, self.path, self.met = kernel, path, 1
        self.text = str(answer.get("text", ""))
        self.headline = str(answer.get("headline", ""))
        self.configuration = str(answer.get("configuration", ""))
        self.cause = str(answer.get("cause", ""))
        self.seconds = float(answer.get("seconds", 0.0))
        self.remembered = bool(answer.get("remembered"))

    def again(self, key: str, among_others: bool = False) -> BaseException:
        """The exception. Where an autotuner has come to launch it all the same, nothing else was left: then it is
        about all of its configurations."""
        tried = getattr(_state, "round", {})
        tried[key] = (self.headline, self.configuration)
        tuner = None if among_others else tuning_of()
        if tuner is not None and not tuner[1] and self.path:
            name = getattr(self.kernel, "__name__", "the kernel")
            return refusal.refusal(everything_failed(name, list(tried.values()), self.path))
        case = "\n  case:  %s" % self.path if self.path else ""
        return refusal.refusal("triage: %s%s" % (self.text, case))


class Pending:
    """A compile that is about to be asked for: what ``compile`` has by then, and the captured case."""

    def __init__(self, local: Dict[str, Any], path: str, manager: Any, filename: str) -> None:
        self.source, self.key, self.backend = local["src"], str(local["hash"]), local["backend"]
        self.path, self.manager, self.filename = path, manager, filename
        self.began = time.monotonic()
        self.answer: Dict[str, Any] = {}

    def message(self, number: int, op: str = "compile") -> Dict[str, Any]:
        """What the service is asked."""
        return {"op": op, "number": number, "folder": self.path}

    def settle(self, among_others: bool = False) -> Optional[Dict[str, str]]:
        """Do as the answer says: the group of files that is in the cache now, or None where the program is to compile
        it itself. ``among_others``: there may be better ones. Raises the refusal."""
        status = self.answer.get("status")
        entry = self.answer.get("entry")
        try:
            if status == "kills" or (self._fails_behind_the_front_end() and (among_others or is_tried_by_tuner())):
                found = _refused[self.key] = Refused(getattr(self.source, "fn", self.source), self.answer, self.path)
                found.met = 0 if among_others else 1
                if found.remembered:
                    folder.count(folder.AGAIN, found.seconds)
                raise found.again(self.key, among_others)
            if status == "undecided":
                folder.count(folder.UNGUARDED)
            group = None
            if status == "compiled" and entry and not self.answer.get("printed") and not _does_more(self.backend):
                try:
                    group = self._deliver(entry)
                except Exception:  # a full disk, a cache manager of another making: the program compiles it
                    folder.note()
            if group is None:
                _harmless[self.key] = str(self.answer.get("text", ""))
            return group
        finally:
            if entry:
                shutil.rmtree(entry, ignore_errors=True)

    def _fails_behind_the_front_end(self) -> bool:
        """There the copy of the kernel is no different from the program's: it need not be tried again."""
        return self.answer.get("status") == "raised" and self.answer.get("stage") != "source"

    def _deliver(self, entry: str) -> Optional[Dict[str, str]]:
        """Put the files under this process's key. The metadata, which name that key, come last: without them there
        is no entry."""
        if not _is_exact(self.path):
            return None
        group: Dict[str, str] = {}
        with open(os.path.join(entry, "__grp__" + self.filename), encoding="utf-8") as file:
            names = list(json.load(file)["child_paths"])
        for name in names:
            with open(os.path.join(entry, name), "rb") as stream:
                data = stream.read()
            if name == self.filename:
                text = data.decode("utf-8")
                text = text.replace(json.loads(text)["hash"], self.key)
                group[name] = self.manager.put(text, name, binary=False)
            else:
                group[name] = self.manager.put(data, name)
        self.manager.put_group(self.filename, group)
        return group


def start() -> None:
    """Guard the compiles of this process from now on; as often as this is called, so often ``stop`` is to be."""
    global _active  # noqa: PLW0603 - one process, one guard
    use(os.environ.get(VARIABLE, ""))
    with _lock:
        _active += 1


def stop() -> None:
    """The opposite of ``start``."""
    global _active  # noqa: PLW0603
    with _lock:
        _active -= 1


def has_service() -> bool:
    """Whether it is known whom to ask."""
    return _service is not None


def service_told() -> str:
    """What has said whom to ask."""
    return _service.told if _service is not None else ""


def use(told: str) -> None:
    """Ask the service that this says, if none is known yet; it is started now, and nothing is guarded yet."""
    global _service  # noqa: PLW0603
    with _lock:
        if _service is None:
            _service = Service(told)
            _service.hello()


def is_wanted() -> bool:
    """Whether this thread's compiles are to be looked at."""
    return not getattr(_state, "bare", False) and (_active > 0 or collecting() is not None)


def collecting() -> Optional[List[Pending]]:
    """What this thread collects instead of compiling it; None where it compiles."""
    return getattr(_state, "collected", None)


class collect:  # noqa: N801 - stands in a with statement
    """Within it, compiles of this thread that miss the cache are put on a list and end in Collected."""

    def __enter__(self) -> List[Pending]:
        _state.collected = []
        return _state.collected  # type: ignore[no-any-return]

    def __exit__(self, *ended: Any) -> None:
        _state.collected = None


class bare:  # noqa: N801
    """Within it, this thread compiles as if there were no guard."""

    def __enter__(self) -> None:
        _state.bare = True

    def __exit__(self, *ended: Any) -> None:
        _state.bare = False


def is_harmless(key: str) -> bool:
    """Whether that key has been asked for before, and is for the program to compile. Raises where it was refused."""
    found = _refused.get(key)
    if found is not None:
        found.met += 1
        if found.met > 1:
            folder.count(folder.AGAIN, found.seconds)
        raise found.again(key)
    return key in _harmless


def ask(pending: List[Pending]) -> None:
    """Have the service look into them, all at the same time; each then has its answer."""
    assert _service is not None
    try:
        answers = _service.ask([one.message(number) for number, one in enumerate(pending)])
    except Gone as gone:
        answers = [{"status": "undecided", "text": str(gone)}] * len(pending)
    for one, answer in zip(pending, answers):  # noqa: B905 - of Python 3.10
        one.answer = answer


def refused() -> List[Refused]:
    """What this process was refused, in the order in which it was first asked for."""
    return list(_refused.values())


def known_of(key: str) -> str:
    """The diagnosis of what raises; empty where there is none."""
    return _harmless.get(key, "")


def begin_round() -> None:
    """An autotuner is about to try its configurations in this thread."""
    _state.round = {}


def everything_failed(name: str, failures: List[Tuple[str, str]], path: str) -> str:
    """Each failure once, and the nearest configuration that compiles. ``failures``: headline and configuration."""
    by_headline: Dict[str, List[str]] = {}
    for headline, configuration in failures:
        by_headline.setdefault(headline, []).append(configuration)
    count = "the only configuration fails" if len(failures) == 1 else "all %d configurations fail" % len(failures)
    lines = ["triage: %s: %s to compile" % (name, count)]
    for headline, alike in by_headline.items():
        more = " and %d more" % (len(alike) - 1) if len(alike) > 1 else ""
        lines.append("  [%s]%s: %s" % (alike[0], more, headline))
    try:
        assert _service is not None
        answer = _service.ask([{"op": "nearest", "number": 0, "folder": path}])[0]
        lines.append("  " + str(answer.get("text", "")))
    except Gone:
        pass
    lines.append("  case: %s" % path)
    return "\n".join(lines)


def is_tried_by_tuner() -> bool:
    """Whether an autotuner called, and only to see how a configuration does."""
    found = tuning_of()
    return found is not None and bool(found[1])


def tuning_of() -> Any:
    """The autotuner that called, and whether it only tries; None without one."""
    frame: Any = sys._getframe(1)
    tries = False
    while frame is not None:
        if "autotuner" in frame.f_code.co_filename:
            tries = tries or frame.f_code.co_name == "_bench"
            if frame.f_code.co_name == "run" and "configs" in vars(frame.f_locals.get("self") or object):
                return frame.f_locals["self"], tries
        frame = frame.f_back
    return None


def compiles_in_threads() -> bool:
    """Whether the program has asked Triton to compile in threads of its own (3.5 and later)."""
    mode = getattr(sys.modules.get("triton.runtime._async_compile"), "active_mode", None)
    return mode is not None and mode.get() is not None


def always_compiles() -> bool:
    """Whether the program is told not to believe its cache."""
    return os.environ.get("TRITON_ALWAYS_COMPILE", "") not in ("", "0")


def _is_changed(backend: Any) -> bool:
    """Whether somebody has put a stage of his own into the program's compiler, which a worker does not have."""
    kind = type(backend)
    for value in vars(kind).values():
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType) and function.__module__ != kind.__module__:
            return True
    return False


def _does_more(backend: Any) -> bool:
    on = {name for name, value in deciding.variables().items() if value not in ("", "0")}
    runtime = getattr(sys.modules.get("triton.knobs"), "runtime", None)
    hooked = getattr(runtime, "add_stages_inspection_hook", None) is not None
    return bool(on & _PRINTING) or hooked or _is_changed(backend)


def _is_exact(path: str) -> bool:
    with open(os.path.join(path, "case.json"), encoding="utf-8") as file:
        return "functions" in json.load(file)["origin"]
