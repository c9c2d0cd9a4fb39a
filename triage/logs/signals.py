"""The signals of Unix and the exception codes of Windows that end a process, and what their exit codes are."""

from triage.logs.finding import bounded_diagnosis
from triage.model.diagnosis import Diagnosis, Kind

#: The kind and the headline of each signal. SIGFPE and the like are aborts that the processor raised.
SIGNALS: dict[str, tuple[Kind, str]] = {
    "SIGSEGV": (Kind.SEGFAULT, "The compiler crashed with a segmentation fault (SIGSEGV)"),
    "SIGBUS": (Kind.SEGFAULT, "The compiler crashed with a bus error (SIGBUS)"),
    "SIGABRT": (Kind.ABORT, "The compiler aborted (SIGABRT) without a message"),
    "SIGFPE": (Kind.ABORT, "The compiler divided by zero (SIGFPE)"),
    "SIGILL": (Kind.ABORT, "The compiler executed an illegal instruction (SIGILL)"),
    "SIGTRAP": (Kind.ABORT, "The compiler ran into a trap (SIGTRAP)"),
    "SIGKILL": (Kind.KILLED, "The process was killed (SIGKILL)"),
    "SIGTERM": (Kind.KILLED, "The process was asked to end (SIGTERM)"),
    "SIGINT": (Kind.KILLED, "The process was interrupted (SIGINT)"),
    "SIGXCPU": (Kind.TIMEOUT, "The process used up its processor time (SIGXCPU)"),
}
#: The signals' numbers on Linux.
NUMBERS = {
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}
#: NTSTATUS codes by which Windows ends a process: exceptions that nobody handled, and a fail-fast. Source: ntstatus.h.
NTSTATUS: dict[int, tuple[Kind, str]] = {
    0xC0000005: (Kind.SEGFAULT, "The compiler crashed with an access violation (0xC0000005)"),
    0xC00000FD: (Kind.SEGFAULT, "The compiler crashed with a stack overflow (0xC00000FD)"),
    0xC000001D: (Kind.ABORT, "The compiler executed an illegal instruction (0xC000001D)"),
    0xC0000094: (Kind.ABORT, "The compiler divided by zero (0xC0000094)"),
    0xC0000374: (Kind.ABORT, "The heap was found corrupted (0xC0000374)"),
    0xC0000409: (Kind.ABORT, "The compiler ended by a fail-fast (0xC0000409)"),
    0x80000003: (Kind.ABORT, "The compiler ran into a breakpoint (0x80000003)"),
}
#: NTSTATUS codes of a program that does not start.
NOT_STARTED = {
    0xC0000135: "a DLL that it needs is missing",
    0xC0000139: "a DLL lacks a function that it needs",
    0xC0000142: "a DLL failed to initialise",
}
#: Exit codes that mean such an end: a shell's and Python's of a signal, and Windows' as signed and unsigned numbers.
_OF_EXIT_CODE: dict[str, str | int] = {
    **{str(code): name for number, name in NUMBERS.items() for code in (128 + number, -number)},
    **{str(code): status for status in NTSTATUS for code in (status, status - 2**32)},
}
#: The codes that stand in a text, also as hexadecimal numbers.
CODE = rf"{'|'.join(_OF_EXIT_CODE)}|0[xX](?:{'|'.join(f'{status:08X}|{status:08x}' for status in NTSTATUS)})"


def of_exit_code(code: str) -> str | int | None:
    """The signal's name or the NTSTATUS code that an exit code stands for; the code is as in a text."""
    return int(code, 16) if code[:2] in ("0x", "0X") else _OF_EXIT_CODE.get(code)


def why_not_started(code: str) -> str | None:
    """Why Windows did not start a program that ended with this code, if it says so."""
    number = int(code) % 2**32
    return f"0x{number:08X}: {NOT_STARTED[number]}" if number in NOT_STARTED else None


def ended_by(cause: str | int, message: str, library: str | None = None) -> Diagnosis:
    """The diagnosis of a process when only its end is known: a signal's name or an NTSTATUS code, and perhaps the
    library whose code ran."""
    known = SIGNALS.get(cause) if isinstance(cause, str) else NTSTATUS.get(cause)
    kind, shown = known or (Kind.UNKNOWN, f"The process was ended by {cause}")
    return bounded_diagnosis(kind, f"{shown} in {library}" if library else shown, message)
