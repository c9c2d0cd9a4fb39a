"""Runs callbacks when named modules have been imported; used by ``sitecustomize`` here and by
``triage.capture.startup``.

Runs in interpreters of any age: imports nothing that is not loaded anyway, uses no syntax that an old one cannot
parse."""

import sys

if False:
    from typing import Any, Callable, Dict  # noqa: F401 - for the types in comments; importing it takes its time


class AwaitingFinder(object):
    """A meta path finder that finds nothing itself and calls back once awaited modules are loaded.

    ``awaited``: callback for each module name; ``note`` is called when a callback fails."""

    def __init__(self, awaited, note):
        # type: (Dict[str, Callable[[Any], None]], Callable[[], None]) -> None
        self._awaited = awaited
        self._note = note

    def find_spec(self, name, path=None, target=None):
        # type: (str, Any, Any) -> Any
        """The spec of an awaited module, which reports when the module is loaded; None for all others."""
        then = self._awaited.pop(name, None)
        if then is None:
            return None
        spec = __import__("importlib.util").util.find_spec(name)
        try:
            self._tell(spec, then)
        except Exception:  # a spec class that cannot be derived from: not observed
            pass
        return spec

    def _tell(self, spec, then):
        # type: (Any, Callable[[Any], None]) -> None
        """Call back when the module is loaded. Wrapping its loader would add a frame to the traceback of a module that
        fails. So the spec reports instead, when the import system marks the module as initialised."""
        kind, loaded = type(spec), self._loaded

        class Telling(kind):  # type: ignore[misc,valid-type]
            def __setattr__(self, name, value):
                # type: (str, Any) -> None
                super(Telling, self).__setattr__(name, value)
                if name == "_initializing" and not value:
                    self.__class__ = kind
                    loaded(self.name, then)

        spec.__class__ = Telling

    def _loaded(self, name, then):
        # type: (str, Callable[[Any], None]) -> None
        module = sys.modules.get(name)
        if module is None:  # the import failed; it may be tried again
            self._awaited[name] = then
            return
        try:
            then(module)
        except Exception:
            self._note()
