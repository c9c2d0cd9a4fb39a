"""Sees to modules when they are loaded: for the ``sitecustomize`` beside this and for ``triage.capture.startup``.

It runs in interpreters of any age: no imports but what is loaded anyway, no syntax that an old one cannot read.
"""

import sys

if False:
    from typing import Any, Callable, Dict  # noqa: F401 - for the types in comments; importing it takes its time


class Finder(object):
    """Finds nothing itself: it has what another finder found seen to once it is loaded. ``awaited``: what to call with
    each module, by its name; ``note`` is called where that fails."""

    def __init__(self, awaited, note):
        # type: (Dict[str, Callable[[Any], None]], Callable[[], None]) -> None
        self._awaited = awaited
        self._note = note

    def find_spec(self, name, path=None, target=None):
        # type: (str, Any, Any) -> Any
        """The spec of an awaited module, which tells when that is loaded; None for all others."""
        then = self._awaited.pop(name, None)
        if then is None:
            return None
        spec = __import__("importlib.util").util.find_spec(name)
        try:
            self._tell(spec, then)
        except Exception:  # a spec of another making: the program goes on unwatched
            pass
        return spec

    def _tell(self, spec, then):
        # type: (Any, Callable[[Any], None]) -> None
        """See to the module when it is loaded. A loader around its own would be one more frame in the traceback of a
        module that fails; so it is the spec that tells, when the import system says to it that the module is no longer
        new."""
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
        if module is None:  # it failed; there may be another attempt
            self._awaited[name] = then
            return
        try:
            then(module)
        except Exception:
            self._note()
