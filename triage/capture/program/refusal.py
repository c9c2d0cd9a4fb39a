"""The exception that a compile ends in where the isolated one was killed, hung, or ran out of memory."""

from __future__ import annotations

import sys
from typing import Any, Dict, Tuple

_made: Dict[str, Any] = {}


def refusal(text: str) -> BaseException:
    """An exception that Triton's autotuner, and Inductor's, take for a configuration that does not work."""
    return kind()(text)  # type: ignore[no-any-return]


def of(error: Exception, text: str = "") -> BaseException:
    """The same for a compile that ended in an exception of its own; what the autotuner passes over stays itself.
    ``text``: the diagnosis, where there is one."""
    errors = sys.modules["triton.compiler.errors"]
    if isinstance(error, (errors.CompileTimeAssertionFailure, *kind().__bases__)):
        return error
    said = "this configuration does not compile: %s: %s" % (type(error).__name__, error)
    made = refusal("triage: %s" % (text or said))
    made.__cause__ = error
    return made


def is_refusal(error: BaseException) -> bool:
    """Whether it is one of this module's."""
    return isinstance(error, _made.get("kind", ()))


def kind() -> Any:
    """``CompileFailed``, made once Triton is there. Its bases are what ``Autotuner._bench`` catches on this release
    (triton/runtime/autotuner.py): OutOfResources everywhere, PTXASError from 3.3 on."""
    if "kind" not in _made:
        errors = sys.modules["triton.runtime.errors"]
        names = ("PTXASError", "OutOfResources")
        bases: Tuple[Any, ...] = tuple(getattr(errors, name) for name in names if hasattr(errors, name))

        class CompileFailed(*bases):  # type: ignore[misc]
            """A configuration that kills the compiler, found out in a process of its own."""

            def __init__(self, text: str) -> None:
                Exception.__init__(self, text)
                self.text = self.error_message = text
                # What handlers of OutOfResources print.
                self.required = self.limit = 0
                self.name = "compiler"

            def __str__(self) -> str:
                return self.text

            def __reduce__(self) -> Any:
                # It goes from a worker of a pool to the one that waits for it.
                return refusal, (self.text,)

        CompileFailed.__module__, CompileFailed.__qualname__ = "triage", "CompileFailed"
        _made["kind"] = CompileFailed
    return _made["kind"]
