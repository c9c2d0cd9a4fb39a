"""Compiles all configurations of an autotuner at once, before it tries them one by one."""

import functools
import shutil
import sys
from typing import Any, Dict, List, Optional

from . import folder, guard, refusal


class TriedConfig:
    """A configuration and its result.

    ``error``: it would have ended the program. ``raises``: it ended in an exception, as it does here. ``failure``:
    headline and configuration as text."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.raises = False
        self.failure = ("", "")
        self.error: Optional[BaseException] = None
        self.path = ""


def install() -> None:
    """While a guard is active, compile every autotuner's configurations in parallel after pruning."""
    kind = sys.modules["triton.runtime.autotuner"].Autotuner
    original = kind.prune_configs

    @functools.wraps(original)
    def prune_configs(self: Any, kwargs: Dict[str, Any], *rest: Any, **named: Any) -> Any:
        guard.begin_round()
        remaining = original(self, kwargs, *rest, **named)
        if guard.is_wanted() and not guard.compiles_in_threads():
            try:
                attempt(self, list(remaining), self.nargs, kwargs)
            except Exception:
                folder.note()
        return remaining

    kind.prune_configs = prune_configs


def attempt(
    tuner: Any, configs: List[Any], nargs: Dict[str, Any], kwargs: Dict[str, Any], keep: bool = False
) -> List[TriedConfig]:
    """Compile these configurations of the tuner's kernel in isolation and in parallel; results go into Triton's cache.

    ``nargs``: positional arguments by name; ``kwargs``: keyword arguments; ``keep``: keep the cases of those that
    raise, which the tuner otherwise meets itself."""
    tried = [TriedConfig(config) for config in configs]
    pending: Dict[int, guard.Pending] = {}
    for number, attempt_ in enumerate(tried):
        with guard.collect() as collected:
            _called(tuner, attempt_.config, nargs, kwargs)
        if collected:
            pending[number] = collected[0]
    if not pending:
        return tried
    guard.ask(list(pending.values()))
    for number, request in pending.items():
        attempt_, answer = tried[number], request.answer
        attempt_.path, attempt_.raises = request.path, answer.get("status") == "raised"
        attempt_.error = _settled(request, keep)
        attempt_.failure = (str(answer.get("headline", "")), str(answer.get("configuration", "")))
    return tried


def raised(tuner: Any, config: Any, nargs: Dict[str, Any], kwargs: Dict[str, Any]) -> Optional[Exception]:
    """The exception that a configuration known not to kill the compiler raises here; None if it compiles."""
    with guard.bare():
        return _called(tuner, config, nargs, kwargs)


def _settled(pending: guard.Pending, keep: bool) -> Optional[BaseException]:
    error: Optional[BaseException] = None
    try:
        group = pending.settle(among_others=True)
    except BaseException as refused:
        if not refusal.is_refusal(refused):
            raise
        error = refused
    else:
        if group is None:
            if keep and pending.answer.get("status") == "raised":
                raised_there = Exception(pending.answer.get("headline", ""))
                folder.end(pending.path, pending.began, raised_there, "compile", tuned=True)
            else:
                shutil.rmtree(pending.path, ignore_errors=True)  # the tuner captures it again
            return None
        folder.count(folder.COMPILED, "%s %s" % (pending.key, pending.kernel))
    folder.end(pending.path, pending.began, error, "compile", tuned=True)
    return error


def _called(tuner: Any, config: Any, nargs: Dict[str, Any], kwargs: Dict[str, Any]) -> Optional[Exception]:
    """Call the tuner's kernel as ``_bench`` does (triton/runtime/autotuner.py), without a launch; return what it
    raises."""
    current = {**kwargs, **config.all_kwargs()}
    try:
        if config.pre_hook:
            config.pre_hook({**nargs, **current})
        tuner.fn.run(*nargs.values(), **{"grid": (1,), **current, "warmup": True})
    except guard.Collected:
        return None
    except Exception as error:
        return error
    return None
