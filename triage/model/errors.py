"""Errors of triage itself and of its input: each is one line for the user and one exit code.

Nothing else may end a command early. A failure of the *compile* is never an exception, it is an
:class:`~triage.model.outcome.Outcome`; these are for bad input (2) and for triage being unable to work (3).
"""

import errno


class TriageError(Exception):
    """Base of the errors that triage raises on purpose. ``str(error)`` is one line for the user."""

    exit_code = 3


class InputError(TriageError):
    """The command line or an input file is wrong; the message names the file, the field and the fix."""

    exit_code = 2


class EnvironmentFault(TriageError):
    """triage itself could not do its work: no Triton, no network, no disk, a server that will not start."""

    exit_code = 3


class Interrupted(EnvironmentFault):
    """The user ended the command before this part of its work was done."""


_MACHINE = {
    errno.ENOSPC: "free space there, or set TMPDIR and TRITON_TRIAGE_CACHE to other folders",
    errno.EDQUOT: "free space there, or set TMPDIR and TRITON_TRIAGE_CACHE to other folders",
    errno.EROFS: "set TMPDIR and TRITON_TRIAGE_CACHE to folders that can be written",
    errno.EMFILE: "raise `ulimit -n`",
    errno.ENFILE: "close other programs",
    errno.EAGAIN: "raise `ulimit -u`, or use fewer --jobs",
    errno.ENOMEM: "give it more memory (`ulimit -v`), or use fewer --jobs",
    errno.EFBIG: "raise `ulimit -f`",
}
"""Limits of the machine that any call of the system may meet, and what to do."""


_ON_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""Error numbers for which the file matters."""


def machine_fault(error: Exception) -> EnvironmentFault | None:
    """The fault of the machine that an exception stands for; None for any other exception."""
    if isinstance(error, MemoryError):
        return EnvironmentFault(f"out of memory; {_MACHINE[errno.ENOMEM]}")
    if isinstance(error, OSError) and error.errno in _MACHINE:
        where = f"{error.filename}: " if error.filename and error.errno in _ON_DISK else ""
        return EnvironmentFault(f"{where}{error.strerror}; {_MACHINE[error.errno]}")
    return None


def unreadable(name: object, error: OSError) -> TriageError:
    """What a file or folder that cannot be read means: an InputError that names it, or a limit of the machine, which is
    no fault of the file."""
    limit = machine_fault(error) if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM) else None
    return limit or InputError(f"{name}: cannot be read: {error.strerror}")


def fault(error: Exception) -> TriageError:
    """What any exception means for the user. One that triage does not expect is its cause, for ``--debug``."""
    if isinstance(error, TriageError):
        return error
    if (limit := machine_fault(error)) is not None:
        return limit
    if isinstance(error, OSError) and error.filename and error.strerror:
        # As of a file that was read before, and that another process has replaced since.
        changed = EnvironmentFault(f"{error.filename}: {error.strerror}")
        changed.__cause__ = error
        return changed
    internal = EnvironmentFault(f"internal error: {type(error).__name__}: {error}; run again with --debug")
    internal.__cause__ = error
    return internal
