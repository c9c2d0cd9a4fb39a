"""Environments that are broken at random, then a normal call with the same cache; and triage killed at random moments.

Under them a call tells the truth or that it could not tell. Whatever it says, the next call tells the truth."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from commands import DATA
from running import PROGRAMS

from soak.campaign import Defect, Ended, Part, Try, documents

CASES = (DATA / "ok.json", DATA / "undefined-name.json", DATA / "too-much-shared-memory.json")
CHECK = ("check", *CASES, "--no-suggest", "--json", "--jobs", "2", "--timeout", "15")
BOUND_S = 30.0
"""Two rounds of two compiles."""
PROGRAM = (sys.executable, str(PROGRAMS / "guarded.py"), "abort", "single", "64", "256")

Storm = Callable[[int, threading.Event], None]


@dataclass
class Broken:
    """A broken environment: limits, variables, and what goes on beside the call. ``ends``: triage may be killed."""

    names: list[str] = field(default_factory=list)
    limits: dict[int, int] = field(default_factory=dict)
    variables: dict[str, str | None] = field(default_factory=dict)
    storm: Storm | None = None
    ends: bool = False


@contextmanager
def disk(folder: Path, options: str) -> Iterator[bool]:
    """A small file system in place of a folder, where that may be mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = os.geteuid() == 0 and os.system(f"mount -t tmpfs -o mode=700,{options} tiny {folder} 2>/dev/null") == 0
    try:
        yield mounted
    finally:
        if mounted:
            os.system(f"umount -l {folder}")


def strikes(choose: random.Random, number: int, most_s: float, process: int, over: threading.Event) -> None:
    """A signal to random descendants, a few times."""
    for _ in range(choose.randint(1, 4)):
        if over.wait(choose.uniform(0.1, most_s)):
            return
        with suppress(psutil.Error, IndexError):
            below = psutil.Process(process).children(recursive=True)
            # The user's program is none of triage's.
            choose.choice([each for each in below if PROGRAM[1] not in each.cmdline()]).send_signal(number)


def spoiled(current: Try, how: str) -> None:
    """A cache with outcomes of an earlier call, whose database is damaged."""
    choose = current.random
    current.triage(*CHECK, bound_s=BOUND_S)
    for path in (current.cache / "outcomes").glob("*.sqlite*"):
        if how == "garbage":
            path.write_bytes(choose.randbytes(choose.randint(0, 20_000)))
        elif how == "torn":
            data = bytearray(path.read_bytes())
            for _ in range(choose.randint(1, 40)):
                data[choose.randrange(len(data))] = choose.randrange(256)
            path.write_bytes(data[: choose.randint(len(data) // 2, len(data))])
        elif path.suffix == ".sqlite":
            with suppress(sqlite3.Error), sqlite3.connect(path) as database:
                tables = [row[0] for row in database.execute("select name from sqlite_master where type='table'")]
                for table in tables:
                    for column in [row[1] for row in database.execute(f"pragma table_info({table})")][1:]:
                        value = choose.choice(["", "{", "null", '{"status": "ok"}', b"\xff\x00", 7, -1.5])
                        database.execute(f"update {table} set {column} = ? where random() % 2", (value,))


def broken(current: Try) -> Broken:
    """One or two random things that are wrong."""
    choose, it = current.random, Broken()
    mib = 1 << 20
    for kind in choose.sample(["limit", "limit", "temporary", "cache", "variables", "storm"], choose.choice([1, 1, 2])):
        match kind:
            case "limit":
                which, low, high = choose.choice([
                    (resource.RLIMIT_AS, 200 * mib, 6000 * mib), (resource.RLIMIT_DATA, 100 * mib, 4000 * mib),
                    (resource.RLIMIT_NOFILE, 6, 80), (resource.RLIMIT_FSIZE, 0, 1 * mib), (resource.RLIMIT_CPU, 1, 8),
                    (resource.RLIMIT_STACK, 128 << 10, 8 * mib),
                ])  # fmt: skip
                it.limits[which] = int(low * (high / low) ** choose.random()) if low else choose.randint(low, high)
                it.ends |= which in (resource.RLIMIT_CPU, resource.RLIMIT_STACK)
                it.names.append(f"limit {which}={it.limits[which]}")
            case "temporary":
                value = choose.choice(["/proc/none", "/proc/self", "/dev/null", str(current.folder / "none"), ""])
                it.variables["TMPDIR"] = value
                it.names.append(f"TMPDIR={value}")
            case "cache":
                how = choose.choice(["file", "unwritable", "garbage", "torn", "rows", "link"])
                if how == "file":
                    (current.folder / "file").touch()
                    it.variables["TRITON_TRIAGE_CACHE"] = str(current.folder / "file")
                elif how == "unwritable":
                    it.variables["TRITON_TRIAGE_CACHE"] = "/proc/none/cache"
                elif how == "link":
                    (current.cache / "outcomes").symlink_to("/proc/self")
                else:
                    spoiled(current, how)
                it.names.append(f"cache {how}")
            case "variables":
                changed: dict[str, str | None] = choose.choice([
                    {"HOME": None}, {"PATH": ""}, {"PATH": None}, {"HOME": "/proc/none", "TRITON_TRIAGE_CACHE": None},
                    {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"TRITON_CACHE_DIR": "/proc/none"},
                    {"TRITON_PTXAS_PATH": "/bin/false"}, {"COLUMNS": "0"}, {"COLUMNS": "x", "TERM": "dumb"},
                    {"PYTHONSTARTUP": "/none", "PYTHONWARNINGS": "default"}, {"USER": None, "LOGNAME": None},
                ])  # fmt: skip
                it.variables |= changed
                it.names.append(str(changed))
            case _:
                number = choose.choice([signal.SIGKILL, signal.SIGSTOP])
                it.storm = partial(strikes, random.Random(choose.random()), number, choose.choice([0.5, 2.0]))
                it.names.append(f"{number.name} to descendants")
    return it


def verdicts(done: Ended) -> list[str]:
    """A word or the signature for each document."""
    found = []
    for document in documents(done.out):
        if "could_not_tell" in document:
            found.append("could not tell")
        else:
            found.append((document["diagnosis"] or {}).get("signature") or document["outcome"]["status"])
    return found


def truth(part: Part) -> list[str]:
    """What a normal call says; known once a campaign."""
    if not part.campaign.truth:
        current = part.one_try("truth")
        part.campaign.truth = verdicts(current.triage(*CHECK, bound_s=120))
        assert part.campaign.truth[0] == "ok" and len(part.campaign.truth) == len(CASES), part.campaign.truth
    return part.campaign.truth


def normal(current: Try, known: list[str]) -> None:
    """A normal call tells the truth and leaves nothing."""
    done = current.triage(*CHECK, bound_s=BOUND_S)
    told = verdicts(done)
    current.expect(len(told) == len(known) or done.late, Defect.LOST, f"next call: {done.err[-1000:]}")
    current.expect(told == known or len(told) != len(known), Defect.FALSE, f"next call: {told}; {done.err[-1000:]}")
    current.nothing_left()


def bad_environments(part: Part) -> None:
    known = truth(part)
    for current in part.tries():
        guarded = current.random.random() < 0.3
        small = current.temporary if current.random.random() < 0.2 else current.cache
        kib = current.random.choice([4, 40, 400, 4000])
        with disk(small, f"size={kib}k") if current.random.random() < 0.4 else nullcontext(False) as full:
            it = broken(current)
            current.description = ("guard: " if guarded else "") + ", ".join(it.names)
            current.description += f", {small.name} on a disk of {kib} KiB" if full else ""
            (under_guard if guarded else checked)(current, it, known)
            # What lies in a folder that a limit keeps triage from emptying goes with the next start.
            current.nothing_left(files=False)
        normal(current, known)


def checked(current: Try, it: Broken, known: list[str]) -> None:
    done = current.triage(*CHECK, bound_s=BOUND_S, limits=it.limits, variables=it.variables, meanwhile=it.storm)
    told = verdicts(done)
    if it.variables.get("TRITON_PTXAS_PATH"):
        return  # An assembler that fails is the truth there.
    # A compile that a storm kills was killed, and may be told so; ``normal`` sees that nobody remembers it.
    allowed = {"could not tell", "v2|killed"} if it.storm else {"could not tell"}
    wrong = [word for word, right in zip(told, known, strict=False) if word not in {right} | allowed]
    current.expect(not wrong, Defect.FALSE, f"{told}: {done.out[-3000:]} {done.err[-1000:]}")
    complete = len(told) == len(known) or (done.code in (2, 3) and not told and len(done.err.splitlines()) <= 3)
    current.expect(complete or done.late or it.ends, Defect.LOST, f"{done.code}: {told} {done.err[-2000:]}")


def under_guard(current: Try, it: Broken, known: list[str]) -> None:
    """The output of the program is as without triage, under a little less than the limits."""
    less = {which: value * 9 // 10 for which, value in it.limits.items()}
    own = {**it.variables, "TRITON_CACHE_DIR": str(current.folder / "plain")}
    plain = current.run(*PROGRAM, bound_s=60, limits=less, variables=own)
    done = current.triage(
        "run", "--guard", "--timeout", "15", "--no-suggest", "-o", current.folder / "out", "--", *PROGRAM,
        bound_s=60, limits=it.limits, variables=it.variables, meanwhile=it.storm if plain.code == 0 else None,
    )  # fmt: skip
    if plain.code == 0 and not it.ends and done.code not in (2, 3) and it.storm is None:
        same = (done.code, done.out) == (plain.code, plain.out)
        # tempfile passes over a folder that is full already, so more may compile then.
        same |= "No space left" in plain.out and done.out.count("compiled") >= plain.out.count("compiled")
        current.expect(same, Defect.FALSE, f"guard: {done.code} {done.out!r} for {plain.out!r}: {done.err[-2000:]}")


# --- kill -9 --------------------------------------------------------------------------------------------------------

COMMANDS: dict[str, tuple[Any, ...]] = {
    "check": ("check", CASES[2], "--jobs", "2"),
    "check -o": ("check", *CASES, "-o", "out"),
    "minimize": ("minimize", CASES[1], "-o", "min"),
    "matrix": ("matrix", CASES[1], "--python", f"here={sys.executable}", "-o", "matrix"),
    "run": ("run", "--guard", "-o", "captured", "--", sys.executable, str(PROGRAMS / "guarded.py"), "abort"),
    "attach": ("attach", CASES[1], "--repo", "octo/kernels", "--dry-run"),
}


def kills(part: Part) -> None:
    """Triage itself is killed, and nothing of it is left after the next start."""
    known = truth(part)
    for current in part.tries():
        name = current.random.choice(list(COMMANDS))
        after_s = current.random.uniform(0.2, 1.0) * current.random.choice([1, 4, 10])
        current.description = f"{name} killed after {after_s:.2f} s"

        def kill(process: int, over: threading.Event, after_s: float = after_s) -> None:
            if not over.wait(after_s):
                os.kill(process, signal.SIGKILL)

        done = current.run(sys.executable, "-m", "triage", *COMMANDS[name], bound_s=60, meanwhile=kill)
        # The program that triage runs is the user's, and goes on.
        current.nothing_left(files=False, within_s=90 if name == "run" else 10)
        current.expect(done.code == -signal.SIGKILL or "internal error" not in done.err, Defect.INTERNAL, done.err)
        normal(current, known)
