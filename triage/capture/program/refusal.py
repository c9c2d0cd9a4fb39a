"""The exception raised for a compile that was killed, hung, or ran out of memory in isolation."""

import sys
from typing import Any, Dict, Tuple

_CAUGHT = {
    "triton": ("triton.runtime.errors", ("PTXASError", "OutOfResources")),
    "cute": ("cutlass.base_dsl.common", ("DSLRuntimeError",)),
}
"""By compiler: the classes that its users catch. Triton's are what ``Autotuner._bench`` catches on this release
(triton/runtime/autotuner.py): OutOfResources everywhere, PTXASError from 3.3 on."""
_classes: Dict[str, Any] = {}


class CompileFailed(Exception):
    """A configuration that kills the compiler, found out in a process of its own."""

    def __init__(self, text: str) -> None:
        Exception.__init__(self, text)
        self.text = self.error_message = text
        # Printed by handlers of OutOfResources.
        self.required = self.limit = 0
        self.name = "compiler"

    def __str__(self) -> str:
        return self.text


CompileFailed.__module__, CompileFailed.__qualname__ = "triage", "CompileFailed"


def refusal(text: str, compiler: str) -> BaseException:
    """An exception that users of the compiler, its autotuner and Inductor's treat as a configuration that does not
    work."""
    return _kind(compiler)(text)  # type: ignore[no-any-return]


def of(error: Exception, text: str = "") -> BaseException:
    """A refusal that wraps an ordinary exception of Triton; exceptions that its autotuner skips anyway are returned
    unchanged.

    ``text``: the diagnosis, if known."""
    errors = sys.modules["triton.compiler.errors"]
    if isinstance(error, (errors.CompileTimeAssertionFailure, *_bases("triton"))):
        return error
    fallback = "this configuration does not compile: %s: %s" % (type(error).__name__, error)
    wrapped = refusal("triage: %s" % (text or fallback), "triton")
    wrapped.__cause__ = error
    return wrapped


def is_refusal(error: BaseException) -> bool:
    """Whether this module made it."""
    return isinstance(error, CompileFailed)


def _bases(compiler: str) -> Tuple[Any, ...]:
    module, names = _CAUGHT[compiler]
    errors = sys.modules[module]
    return tuple(getattr(errors, name) for name in names if hasattr(errors, name))


def _kind(compiler: str) -> Any:
    """The class of a compiler's refusals, created once that is imported."""
    if compiler not in _classes:

        def reduced(self: Any) -> Any:
            # Pickled when a pool's worker sends it to its parent.
            return refusal, (self.text, compiler)

        members = {"__module__": "triage", "__qualname__": "CompileFailed", "__reduce__": reduced}
        _classes[compiler] = type("CompileFailed", (CompileFailed, *_bases(compiler)), members)
    return _classes[compiler]
