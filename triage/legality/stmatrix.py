"""stmatrix, beside ldmatrix whose table it shares."""

from triage.legality.ldmatrix import STMATRIX as RULE

__all__ = ["RULE"]
