"""What operating systems, shells and notebooks say of a process that ended."""

import pytest

from triage import diagnose
from triage.logs.signals import NTSTATUS, NUMBERS, of_exit_code
from triage.model.diagnosis import Kind

_ABOVE = "My Triton kernel, compiled with triton.jit:\n"


@pytest.mark.parametrize(
    ("line", "kind", "where"),
    [
        (
            "[12345.678] python3[42]: segfault at 8 ip 00007fd3c2b2 sp 00007ffd error 4 in libtriton.so[7fd3+50] "
            "likely on CPU 3",
            Kind.SEGFAULT,
            "libtriton.so",
        ),
        (
            "Feb 28 00:20:45 host kernel: traps: python3[42] general protection fault ip:7f sp:7f error:0 in "
            "libtriton.so[7fd3+50]",
            Kind.SEGFAULT,
            "libtriton.so",
        ),
        (
            "[1.2] traps: python[42] trap divide error ip:7f sp:7f error:0 in libtriton.so[7f+5]",
            Kind.ABORT,
            "libtriton.so",
        ),
        (
            "Faulting application name: python.exe, version: 3.11.9150.1013, time stamp: 0x660bda91\n"
            "Faulting module name: libtriton.pyd, version: 0.0.0.0, time stamp: 0x67890123\n"
            "Exception code: 0xc0000005\nFault offset: 0x0000000002d0e6c4",
            Kind.SEGFAULT,
            "libtriton.pyd",
        ),
        (
            "Unhandled exception at 0x00007FFA1B2C3D4E (libtriton.pyd) in python.exe: 0xC0000005: Access violation.",
            Kind.SEGFAULT,
            "libtriton.pyd",
        ),
        ("Process finished with exit code -1073740791 (0xC0000409)", Kind.ABORT, "0xC0000409"),
        ("fish: Job 1, 'python k.py' terminated by signal SIGSEGV (Address boundary error)", Kind.SEGFAULT, "SIGSEGV"),
        ("Command terminated by signal 11", Kind.SEGFAULT, "SIGSEGV"),
        ("        Signal: 6 (ABRT)", Kind.ABORT, "SIGABRT"),
        ("worker 'gw0' crashed while running 'test_dot.py::test_dot[64]'", Kind.UNKNOWN, "test_dot.py::test_dot[64]"),
        ("The kernel for bench.ipynb appears to have died. It will restart.", Kind.UNKNOWN, "bench.ipynb"),
    ],
)
def test_the_end_is_read_with_the_library(line: str, kind: Kind, where: str) -> None:
    diagnosis = diagnose(_ABOVE + line)
    assert diagnosis is not None
    assert diagnosis.kind is kind
    assert where in diagnosis.headline


def test_faulthandler_on_windows_names_the_frame() -> None:
    diagnosis = diagnose(
        "Windows fatal exception: access violation\n\nCurrent thread 0x00001234 (most recent call first):\n"
        '  File "C:\\venv\\Lib\\site-packages\\triton\\compiler\\compiler.py", line 100 in make_ir\n'
        '  File "C:\\k.py", line 12 in main\n'
    )
    assert diagnosis is not None
    assert diagnosis.kind is Kind.SEGFAULT
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("compiler.py", 100, "make_ir")


@pytest.mark.parametrize(
    "line",
    [
        "Windows fatal exception: code 0x8001010d",  # programs handle it
        "The signal 11 dB above the noise, 0xC0000005 in the table",
        "warps exchange data by signal 11 of the barrier",
        "Exception code: 0xe06d7363",
        "the kernel appears to have died out",
    ],
)
def test_no_end_of_a_process(line: str) -> None:
    diagnosis = diagnose(_ABOVE + line)
    assert diagnosis is None or diagnosis.kind in (Kind.UNKNOWN, Kind.OTHER)


def test_exit_codes() -> None:
    for number, name in NUMBERS.items():
        assert of_exit_code(str(128 + number)) == of_exit_code(str(-number)) == name
    for status in NTSTATUS:
        assert of_exit_code(str(status)) == of_exit_code(str(status - 2**32)) == of_exit_code(hex(status)) == status
    assert of_exit_code("1") is None
