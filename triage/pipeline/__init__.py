"""Triage of one or many cases, from a Case to its Report: ``Session`` does it, as ``Options`` says."""

from triage.pipeline.options import Options
from triage.pipeline.session import Session

__all__ = ["Options", "Session"]
