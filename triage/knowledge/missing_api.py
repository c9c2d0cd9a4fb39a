"""Tells a release that lacks an API from one that fails: a reproducer of the first says nothing of it."""

import re

from triage.model.outcome import Outcome

# A missing API shows as an AttributeError or ImportError about a module of the compiler, as an unknown keyword argument
# or as Gluon's notice of a function that has a successor; as words of triage's own where it makes an argument.
_NO_API = re.compile(
    r"module '(?:triton|gluon|cutlass)[\w.]*' has no attribute|No module named '(?:triton|cutlass)"
    r"|cannot import name '\w+' from '(?:triton|cutlass)|this Triton has no |this release has no cutlass\."
    r"|got an unexpected keyword argument '\w+'|\w+ has been removed; call \w+ instead"
)


def missing_api(outcome: Outcome) -> str | None:
    """The error line that names a part of the compiler's API which the release lacks; None if it lacks none."""
    return next((line for error in outcome.errors if (line := lacking(error.message)) is not None), None)


def lacking(text: str) -> str | None:
    """The line of an error's text that names a part of the compiler's API which the release lacks, if there is one."""
    return next((line.strip() for line in text.splitlines() if _NO_API.search(line)), None)
