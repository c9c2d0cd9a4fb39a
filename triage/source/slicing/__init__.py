"""A kernel cut out of its file and package by the syntax tree alone: nothing of the user's is executed.

Of each file only the statements stay that the kernel reaches; all other lines are blank, so that line numbers stay."""

from triage.source.slicing.closure import Unsliceable
from triage.source.slicing.kernel import Assumption, Slice, slice_kernel

__all__ = ["Assumption", "Slice", "Unsliceable", "slice_kernel"]
