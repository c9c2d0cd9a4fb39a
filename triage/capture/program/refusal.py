"""The exception raised for a compile that was killed, hung, or ran out of memory in isolation."""

import sys
from typing import Any, Dict, Tuple

_classes: Dict[str, Any] = {}


def refusal(text: str) -> BaseException:
    """An exception that Triton's and Inductor's autotuners treat as a configuration that does not work."""
    return kind()(text)  # type: ignore[no-any-return]


def of(error: Exception, text: str = "") -> BaseException:
    """A refusal that wraps an ordinary exception; exceptions that the autotuner skips anyway are returned unchanged.

    ``text``: the diagnosis, if known."""
    errors = sys.modules["triton.compiler.errors"]
    if isinstance(error, (errors.CompileTimeAssertionFailure, *kind().__bases__)):
        return error
    fallback = "this configuration does not compile: %s: %s" % (type(error).__name__, error)
    wrapped = refusal("triage: %s" % (text or fallback))
    wrapped.__cause__ = error
    return wrapped


def is_refusal(error: BaseException) -> bool:
    """Whether this module made it."""
    return isinstance(error, _classes.get("kind", ()))


def kind() -> Any:
    """``CompileFailed``, created once Triton is imported. Its bases are what ``Autotuner._bench`` catches on this
    release (triton/runtime/autotuner.py): OutOfResources everywhere, PTXASError from 3.3 on."""
    if "kind" not in _classes:
        errors = sys.modules["triton.runtime.errors"]
        names = ("PTXASError", "OutOfResources")
        bases: Tuple[Any, ...] = tuple(getattr(errors, name) for name in names if hasattr(errors, name))

        class CompileFailed(*bases):  # type: ignore[misc]
            """A configuration that kills the compiler, found out in a process of its own."""

            def __init__(self, text: str) -> None:
                Exception.__init__(self, text)
                self.text = self.error_message = text
                # Printed by handlers of OutOfResources.
                self.required = self.limit = 0
                self.name = "compiler"

            def __str__(self) -> str:
                return self.text

            def __reduce__(self) -> Any:
                # Pickled when a pool's worker sends it to its parent.
                return refusal, (self.text,)

        CompileFailed.__module__, CompileFailed.__qualname__ = "triage", "CompileFailed"
        _classes["kind"] = CompileFailed
    return _classes["kind"]
