"""The kinds of failure that can be read out of a text, one module each.

A new kind is a new module with a ``RECOGNISER``, named here. Where several would take the same line the
first in this order does: the more particular stand before the more general.
"""

from __future__ import annotations

from triage.logs.recognisers import (
    assembler,
    assertion,
    bad_memory,
    frontend,
    launch,
    llvm_diagnostic,
    llvm_fatal,
    mlir_diagnostic,
    out_of_resources,
    process_end,
    ptxas,
    python_exception,
    silent_pass,
    stack_trace,
    terminate,
    unreachable,
    verifier,
)
from triage.logs.recognisers.base import Recogniser

RECOGNISERS: tuple[Recogniser, ...] = tuple(
    module.RECOGNISER
    for module in (
        assertion,
        unreachable,
        bad_memory,
        llvm_fatal,
        terminate,
        out_of_resources,
        ptxas,
        launch,
        stack_trace,
        assembler,
        process_end,
        llvm_diagnostic,
        silent_pass,
        mlir_diagnostic,
        frontend,
        python_exception,
        verifier,
    )
)

__all__ = ["RECOGNISERS", "Recogniser"]
