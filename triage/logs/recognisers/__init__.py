"""The kinds of failure that can be read out of a text, one module each, whose docstring documents the kind.

Of several recognisers that accept the same line the first in ``ORDER`` reads it: particular ones precede general ones.
"""

from importlib import import_module

from triage.logs.recognisers.base import Recogniser

ORDER = (
    "cute_environment",
    "environment",
    "cute_back_end",
    "cute_report",
    "cute_exception",
    "device_assertion",
    "assertion",
    "unreachable",
    "out_of_memory",
    "llvm_fatal",
    "terminate",
    "out_of_resources",
    "ptxas",
    "vendor_compiler",
    "launch_error",
    "stack_trace",
    "assembler",
    "process_end",
    "llvm_diagnostic",
    "silent_pass",
    "mlir_diagnostic",
    "frontend",
    "python_exception",
    "verifier",
    "other",
)

RECOGNISERS: tuple[Recogniser, ...] = tuple(import_module(f"{__name__}.{name}").RECOGNISER for name in ORDER)

__all__ = ["ORDER", "RECOGNISERS", "Recogniser"]
