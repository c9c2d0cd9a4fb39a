"""The environment's own limits on a process, as ``ulimit`` and Linux set them, and the ends that are their doing.

A compile that they ended says nothing about the kernel: triage could not tell.
"""

import os
import re
import resource
import signal
from collections.abc import Mapping

from triage.harness.limits import GIB, Limits
from triage.harness.worker.process import MOST_FILE
from triage.logs.outcomes import diagnose_outcome
from triage.model.diagnosis import Trait
from triage.model.outcome import Outcome, Status

_RESERVED = 32 * GIB
"""Address space that a process may map beside the memory it uses: Triton 0.2 GiB, torch with CUDA's libraries some
10 GiB (nothing of it counts against ``--memory``)."""
_MAPPED = GIB
"""What a worker with Triton has mapped beside twice its resident memory, at most. An environment's limit below that may
have been met where nobody checks an allocation, and the end is wordless."""
_STACK = 8 << 20
"""Linux's default, under which compilers are tested."""


def ulimits(limits: Limits) -> dict[str, int]:
    """The environment's limits that may end a compile before ``limits`` do: ``ulimit``'s option → bytes, ``-t``
    seconds."""
    memory = 2 * limits.memory_bytes + _RESERVED
    enough = {
        "-v": (resource.RLIMIT_AS, memory),
        "-d": (resource.RLIMIT_DATA, memory),
        "-s": (resource.RLIMIT_STACK, _STACK),
        "-t": (resource.RLIMIT_CPU, limits.timeout_s * (os.cpu_count() or 1)),
        "-f": (resource.RLIMIT_FSIZE, MOST_FILE),
    }
    set_ = {option: resource.getrlimit(which) for option, (which, _) in enough.items()}
    # A worker raises its soft limit on address space, the first.
    values = {option: hard if option == "-v" else soft for option, (soft, hard) in set_.items()}
    return {
        option: value
        for option, value in values.items()
        if value != resource.RLIM_INFINITY and value < enough[option][1]
    }


_REFUSED = re.compile(
    r"^(?:terminate called .*'std::bad_alloc'|LLVM ERROR: out of memory|ptxas fatal\s*: Memory allocation failure)",
    re.MULTILINE,
)


def refused_memory(text: str) -> bool:
    """Whether a compiler printed that an allocation was refused."""
    return _REFUSED.search(text) is not None


def memory_limit(limits: Mapping[str, int]) -> str | None:
    """The reason why a refused allocation says nothing about the case; None where only triage's own limit was met."""
    for option in ("-v", "-d"):
        if option in limits:
            return f"memory was refused under `ulimit {option} {limits[option] >> 10}` of the environment; raise that"
    return None


_FAULTS = "|".join(
    re.escape(text)
    for text in (
        "No space left on device", "Disk quota exceeded", "Too many open files", "File too large",
        "Read-only file system", "Input/output error", "Resource temporarily unavailable",
    )
)  # fmt: skip
_STATED = re.compile(
    rf"^(?:LLVM ERROR|ptxas (?:fatal|error)|(?:\S*/)?(?:ld\.)?lld: error|  what\(\)).{{0,400}}\b({_FAULTS})\s*$",
    re.MULTILINE,
)
_TOOL_ENDED = re.compile(
    r"`?ptxas`? failed with error code (?P<code>-?\d{1,3})\b|`?ptxas`? raised (?P<raised>SIGSEGV)\b"
    r"|died with <Signals\.(?P<signal>SIG[A-Z0-9]{2,10}): "
)
"""Triton's words for the end of ptxas, and subprocess's for that of any program."""


def ended(crash: Outcome, cpu_s: float, limits: Mapping[str, int], oom_kills: int) -> str | None:
    """The reason why the end of a process says nothing about the case; None for an end of its own. ``cpu_s``: the time
    it used; ``oom_kills``: processes that Linux ended for want of memory meanwhile."""
    if (stated := _STATED.search(crash.log)) is not None:
        return f"the compile ended for want of the machine's: {stated.group(1)}"
    if crash.signal == "SIGKILL" and oom_kills:
        return (
            "Linux ended the compile for want of memory, before its own limit was reached; free some, or lower --memory"
        )
    out_of_time = crash.signal == "SIGKILL" and "-t" in limits and cpu_s > limits["-t"] - 1
    if crash.signal is not None:
        return _by_signal("the compile", "SIGXCPU" if out_of_time else crash.signal, limits, crash)
    return None


def ended_tool(failure: Outcome, limits: Mapping[str, int]) -> str | None:
    """The same for a compile that ended in an exception, about the end of an assembler or a linker."""
    texts = "\n".join(error.message for error in failure.errors)
    if (stated := _STATED.search(texts)) is not None:
        return f"the compile ended for want of the machine's: {stated.group(1)}"
    tool = _TOOL_ENDED.search(texts)
    if tool is None:
        return None
    name = tool["raised"] or tool["signal"]
    if name is None:
        # subprocess states the number of a signal as -9; a shell, through which up to 3.1 it runs, as 137.
        number = -int(tool["code"]) if tool["code"].startswith("-") else int(tool["code"]) - 128
        name = signal.Signals(number).name if number in set(signal.Signals) else ""
    if name in ("SIGKILL", "SIGTERM"):
        return f"a program that the compile started was killed from outside ({name}); is memory short?"
    return _by_signal("a program that the compile started", name, limits, failure)


def _by_signal(what: str, name: str, limits: Mapping[str, int], failure: Outcome) -> str | None:
    """The limit that a signal stands for. A death that has words of its own (an assertion) is its own."""
    if name == "SIGXCPU":
        return f"{what} used up the environment's limit on processor time (ulimit -t{_value(limits, '-t')})"
    if name == "SIGXFSZ":
        if "-f" not in limits:
            return f"{what} wrote a file of more than {MOST_FILE >> 30} GiB"
        return f"{what} wrote a file beyond the environment's limit (ulimit -f{_value(limits, '-f')})"
    mapped = _MAPPED + 2 * failure.max_rss_bytes
    small = [option for option in ("-v", "-d") if limits.get(option, mapped) < mapped]
    small += ["-s"] if "-s" in limits and name in ("SIGSEGV", "SIGBUS") else []
    if not small or name not in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGTRAP"):
        return None
    diagnosis = diagnose_outcome(failure)
    if failure.status is Status.CRASH and diagnosis is not None and not diagnosis.kind.has(Trait.WORDLESS):
        return None
    return (
        f"{what} died of {name} without a word under `ulimit {small[0]} {limits[small[0]] >> 10}` of the environment, "
        "which may be why; raise that"
    )


def _value(limits: Mapping[str, int], option: str) -> str:
    if option not in limits:
        return ""
    # ulimit counts files in KiB.
    return f" {limits[option] if option == '-t' else limits[option] >> 10}"
