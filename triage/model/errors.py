"""Errors of triage itself and of its input: each is one line for the user and one exit code.

Nothing else may end a command early. A failure of the *compile* is never an exception, it is an
:class:`~triage.model.outcome.Outcome`; these are for bad input (2) and for triage being unable to work (3).
"""


class TriageError(Exception):
    """Base of the errors that triage raises on purpose. ``str(error)`` is one line for the user."""

    exit_code = 3


class InputError(TriageError):
    """The command line or an input file is wrong; the message names the file, the field and the fix."""

    exit_code = 2


class EnvironmentFault(TriageError):
    """triage itself could not do its work: no Triton, no network, no disk, a server that will not start."""

    exit_code = 3
