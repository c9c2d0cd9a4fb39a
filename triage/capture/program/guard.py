"""The guard: each compile that misses the compiler's cache is first tried by a service, in isolation.

A compile that would end the program raises instead. One that raises an ordinary exception, or could not be tried, the
program compiles itself; so it does with one that compiles, unless the result can go into its cache
(``delivery.py``)."""

import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import folder, refusal
from .service import VARIABLE, Gone, Service

_state = threading.local()
_refused: Dict[str, "RefusedConfig"] = {}
"""By the key of the compile, which covers source, configuration, target and release."""
_harmless: Dict[str, str] = {}
"""Cache keys of compiles that kill nothing and are left to the program, with the diagnosis of those that raise."""
_untried: Dict[str, int] = {}
"""Reasons for which compiles of this process were not tried, with their numbers."""
_notices: Dict[str, bool] = {}
"""What else its user should know, and whether that was printed."""
_lock = threading.Lock()
_service: Optional[Service] = None
_active = 0


class Collected(BaseException):
    """Ends a compile that was only recorded, not run."""


class RefusedConfig:
    """A configuration that must not be compiled in this process. ``met``: how often the program requested it."""

    def __init__(self, pending: "Pending") -> None:
        answer = pending.answer
        self.kernel, self.path, self.compiler, self.met = pending.kernel, pending.path, pending.compiler, 1
        self.text = str(answer.get("text", ""))
        self.headline = str(answer.get("headline", ""))
        self.configuration = str(answer.get("configuration", ""))
        self.cause = str(answer.get("cause", ""))
        self.seconds = float(answer.get("seconds", 0.0))
        self.remembered = bool(answer.get("remembered"))

    def again(self, key: str, among_others: bool = False) -> BaseException:
        """The exception to raise.

        When an autotuner launches a refused configuration anyway, all its configurations failed, and the text covers
        all of them."""
        tried = getattr(_state, "round", {})
        tried[key] = (self.headline, self.configuration)
        if not among_others and is_benchmarked() is False and self.path:
            return refusal.refusal(everything_failed(self.kernel, list(tried.values()), self.path), self.compiler)
        case = "\n  case:  %s" % self.path if self.path else ""
        return refusal.refusal("triage: %s%s" % (self.text, case), self.compiler)


class Pending:
    """A compile that is about to be sent to the service. ``kernel``: its name; ``key``: that of the compiler's cache,
    or what else is equal for equal compiles; ``path``: the folder of its case; ``compiler``: whose exceptions a refusal
    is."""

    def __init__(self, kernel: str, key: str, path: str, compiler: str) -> None:
        self.kernel, self.key, self.path, self.compiler = kernel, key, path, compiler
        self.began = time.monotonic()
        self.answer: Dict[str, Any] = {}

    def settle(self, among_others: bool = False) -> Optional[Dict[str, str]]:
        """Act on the answer: return the group of files now in the cache, or None if the program is to compile it
        itself.

        ``among_others``: other configurations may work. Raises the refusal."""
        status = self.answer.get("status")
        entry = self.answer.get("entry")
        try:
            # Behind the front end the kernel's copy equals the program's, so that it need not be tried again.
            raises = status == "raised" and self.answer.get("stage") != "source"
            if status == "kills" or (raises and (among_others or is_benchmarked())):
                config = _refused[self.key] = RefusedConfig(self)
                config.met = 0 if among_others else 1
                if config.remembered:
                    folder.count(folder.AGAIN, "%.3f" % config.seconds)
                raise config.again(self.key, among_others)
            if status == "undecided":
                untried(str(self.answer.get("text", "")))
            group = None
            if status == "compiled" and entry and not self.answer.get("printed"):
                try:
                    group = self.deliver(entry)
                except Exception:  # a full disk, a custom cache manager: the program compiles it
                    folder.note()
            if group is None:
                _harmless[self.key] = str(self.answer.get("text", ""))
            return group
        finally:
            if entry:
                shutil.rmtree(entry, ignore_errors=True)

    def deliver(self, entry: str) -> Optional[Dict[str, str]]:
        """Take over what the service compiled, in the folder ``entry``: the group of files now in the compiler's cache;
        None where the program compiles it itself."""
        return None


def start() -> None:
    """Guard the compiles of this process from now on; each call needs its own ``stop``."""
    global _active  # noqa: PLW0603 - one process, one guard
    use(os.environ.get(VARIABLE, ""))
    with _lock:
        _active += 1


def stop() -> None:
    """Undo one ``start``."""
    global _active  # noqa: PLW0603
    with _lock:
        _active -= 1


def service_description() -> str:
    """The configuration of the service, as text for an environment variable; empty if none is configured."""
    return _service.description if _service is not None else ""


def use(description: str) -> None:
    """Use the service described, unless one is configured already. Starts it, but guards nothing yet."""
    global _service  # noqa: PLW0603
    with _lock:
        if _service is None:
            _service = Service(description)
            _service.hello()


def is_wanted() -> bool:
    """Whether compiles of this thread are to be guarded or collected."""
    return not getattr(_state, "bare", False) and (_active > 0 or collecting() is not None)


def collecting() -> Optional[List[Pending]]:
    """The list that this thread collects compiles in; None where it compiles."""
    return getattr(_state, "collected", None)


@contextmanager
def collect() -> Iterator[List[Pending]]:
    """Within it, compiles of this thread that miss the cache are listed and end in Collected."""
    collected = _state.collected = []
    try:
        yield collected
    finally:
        _state.collected = None


@contextmanager
def bare() -> Iterator[None]:
    """Within it, this thread compiles unguarded."""
    _state.bare = True
    try:
        yield
    finally:
        _state.bare = False


def is_harmless(key: str) -> bool:
    """Whether the program should compile this key itself, as decided earlier. Raises if it was refused."""
    config = _refused.get(key)
    if config is not None:
        config.met += 1
        if config.met > 1:
            folder.count(folder.AGAIN, "%.3f" % config.seconds)
        raise config.again(key)
    return key in _harmless


def ask(pending: List[Pending]) -> None:
    """Send all to the service at once; each then has its answer."""
    assert _service is not None
    try:
        answers = _service.ask(
            [{"op": "compile", "number": number, "folder": compile_.path} for number, compile_ in enumerate(pending)]
        )
    except Gone as gone:
        answers = [{"status": "undecided", "text": str(gone)}] * len(pending)
    for compile_, answer in zip(pending, answers):  # noqa: B905 - of Python 3.10
        compile_.answer = answer
        for notice in answer.get("notices", ()):
            if notice not in _notices:
                _notices[notice] = False
                folder.count(folder.NOTICE, notice)


def untried(reason: str) -> None:
    """Count a compile that the program does itself, without a trial."""
    _untried[reason] = _untried.get(reason, 0) + 1
    folder.count(folder.UNGUARDED, reason)


def troubles() -> List[str]:
    """Lines on what kept triage from its work in this process since the last call."""
    lines = [
        "%d compile%s could not be tried in isolation: %s" % (number, "s"[: number > 1], reason)
        for reason, number in _untried.items()
    ]
    lines += [notice for notice, printed in _notices.items() if not printed]
    _untried.clear()
    _notices.update(dict.fromkeys(_notices, True))
    return lines


def refused() -> List[RefusedConfig]:
    """Refused configurations of this process, in the order of their first request."""
    return list(_refused.values())


def known_diagnosis(key: str) -> str:
    """The diagnosis of a compile that raises; empty if unknown."""
    return _harmless.get(key, "")


def begin_round() -> None:
    """An autotuner is about to try its configurations in this thread."""
    _state.round = {}


def everything_failed(name: str, failures: List[Tuple[str, str]], path: str) -> str:
    """Text with each failure once and the nearest configuration that compiles. ``failures``: headline and
    configuration."""
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


def is_benchmarked() -> Optional[bool]:
    """Whether the calling autotuner benchmarks a configuration, not launches its choice; None without an autotuner."""
    frame: Any = sys._getframe(1)
    benchmarks = False
    while frame is not None:
        if "autotuner" in frame.f_code.co_filename:
            benchmarks = benchmarks or frame.f_code.co_name == "_bench"
            if frame.f_code.co_name == "run" and "configs" in vars(frame.f_locals.get("self") or object):
                return benchmarks
        frame = frame.f_back
    return None


def compiles_in_threads() -> bool:
    """Whether the program asked Triton to compile in threads of its own (3.5 and later)."""
    mode = getattr(sys.modules.get("triton.runtime._async_compile"), "active_mode", None)
    return mode is not None and mode.get() is not None


def always_compiles() -> bool:
    """Whether the program is configured to ignore its cache."""
    return os.environ.get("TRITON_ALWAYS_COMPILE", "") not in ("", "0")
