"""All configurations of an autotuner at once, before it tries them one after the other."""

from __future__ import annotations

import functools
import sys
from typing import Any, Dict, List, Optional

from . import folder, guard, refusal


class Tried:
    """A configuration and what became of it: ``error`` where it would have ended the program; ``raises``: it ended in
    an exception, as it does here. ``failure``: its headline and configuration in words."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.raises = False
        self.failure = ("", "")
        self.error: Optional[BaseException] = None
        self.path = ""


def install() -> None:
    """While there is a guard, have every autotuner's configurations compiled in parallel when it has pruned them."""
    kind = sys.modules["triton.runtime.autotuner"].Autotuner
    original = kind.prune_configs

    @functools.wraps(original)
    def prune_configs(self: Any, kwargs: Dict[str, Any], *rest: Any, **named: Any) -> Any:
        guard.begin_round()
        kept = original(self, kwargs, *rest, **named)
        if guard.is_wanted() and not guard.compiles_in_threads():
            try:
                attempt(self, list(kept), self.nargs, kwargs)
            except Exception:
                folder.note()
        return kept

    kind.prune_configs = prune_configs


def attempt(
    tuner: Any, configs: List[Any], nargs: Dict[str, Any], given: Dict[str, Any], keep: bool = False
) -> List[Tried]:
    """Compile these configurations of the tuner's kernel for these arguments, in isolation and in parallel; what
    compiles is in Triton's cache then. ``nargs``: positional arguments by name, ``given``: those given by name;
    ``keep``: the cases of those that raise, which otherwise the tuner is about to meet itself."""
    tried = [Tried(config) for config in configs]
    pending: Dict[int, guard.Pending] = {}
    for number, one in enumerate(tried):
        with guard.collect() as collected:
            _called(tuner, one.config, nargs, given)
        if collected:
            pending[number] = collected[0]
    if not pending:
        return tried
    guard.ask(list(pending.values()))
    for number, asked in pending.items():
        one, answer = tried[number], asked.answer
        one.error, one.path, one.raises = _settled(asked, keep), asked.path, answer.get("status") == "raised"
        one.failure = (str(answer.get("headline", "")), str(answer.get("configuration", "")))
    return tried


def raised(tuner: Any, config: Any, nargs: Dict[str, Any], given: Dict[str, Any]) -> Optional[Exception]:
    """What a configuration raises that has been seen not to kill anything; None where it compiles here."""
    with guard.bare():
        return _called(tuner, config, nargs, given)


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
                folder.discard(pending.path)
            return None
        folder.count(folder.COMPILED)
    folder.end(pending.path, pending.began, error, "compile", tuned=True)
    return error


def _called(tuner: Any, config: Any, nargs: Dict[str, Any], given: Dict[str, Any]) -> Optional[Exception]:
    """The tuner's kernel as ``_bench`` calls it (triton/runtime/autotuner.py), without a launch; returns what it
    raises."""
    current = {**given, **config.all_kwargs()}
    try:
        if config.pre_hook:
            config.pre_hook({**nargs, **current})
        tuner.fn.run(*nargs.values(), **{"grid": (1,), **current, "warmup": True})
    except guard.Collected:
        return None
    except Exception as error:
        return error
    return None
