"""Folders from somebody else, with links, pipes and devices in place of files: nothing outside of them is read or
changed, and nothing hangs."""

from __future__ import annotations

import os
import random
import shutil
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from samples import FINISHED

from soak.campaign import Defect, Part

BOUND_S = 15.0
HELPER = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef helper(x):\n    return x\n"


def finished(folder: Path) -> None:
    """A triage as ``check -o``, ``minimize`` and ``matrix`` leave it, with a case of two files."""
    shutil.copytree(FINISHED, folder)
    case = folder / "check" / "case"
    case.mkdir()
    shutil.copy(FINISHED / "minimized" / "case.json", case)
    (case / "kernel.py").write_text(f"import helper\n{(FINISHED / 'minimized' / 'kernel.py').read_text()}")
    (case / "helper.py").write_text(HELPER)


def marked(folder: Path, marker: str) -> None:
    """Put a marker into every file, so that each is still what it was."""
    for path in folder.rglob("*"):
        if path.suffix == ".json":
            text = path.read_text()
            path.write_text(
                text.replace('"headline": "', f'"headline": "{marker} ').replace('"name": "', f'"name": "{marker}_')
            )
        elif path.is_file():
            path.write_text(f"# {marker}\n{path.read_text()}# {marker}\n{marker} = '{marker}'\n")


def cleared(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def plant(
    choose: random.Random, root: Path, folder: Path, outside: Path
) -> tuple[str, Callable[[threading.Event], None]]:
    """Put something in place of a file or a folder below one; its description, and what goes on while triage runs."""
    # Not what an earlier plant has put there.
    path = choose.choice(sorted(each for each in folder.rglob("*") if not each.is_symlink()))
    name = path.relative_to(root)
    twin = outside / name
    if choose.random() < 0.2:
        twin = choose.choice([outside, outside / "check", Path("/proc/self/environ"), outside / "check" / "log.txt"])
    how = choose.choice(["absolute", "relative", "chain", "folder chain", "swap", "swap", "pipe", "device", "socket",
                         "loop", "dots"])  # fmt: skip
    nothing: Callable[[threading.Event], None] = threading.Event.is_set
    if how == "swap":
        return f"{name} swapped", partial(swap, path, twin, choose.choice([0.0, 0.001, 0.02]))
    cleared(path)
    match how:
        case "absolute":
            path.symlink_to(twin)
        case "relative":
            path.symlink_to(os.path.relpath(twin, path.parent))
        case "dots":
            path.symlink_to(root / "check" / ".." / ".." / outside.name / name)
        case "chain":
            (path.parent / "away").unlink(missing_ok=True)  # of another plant
            (path.parent / "away").symlink_to(twin)
            path.symlink_to("away")
        case "folder chain":
            (root / "up").unlink(missing_ok=True)
            (root / "up").symlink_to(outside)
            path.symlink_to(root / "up" / name)
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to(choose.choice(["/dev/zero", "/dev/stdin", "/dev/random", "/proc/self/environ", "/dev/tty"]))
        case "socket":
            # The path of a socket is short.
            here = os.open(path.parent, os.O_RDONLY)
            socket.socket(socket.AF_UNIX).bind(f"/proc/self/fd/{here}/{path.name}")
            os.close(here)
        case _:
            path.symlink_to(path.name)
    return f"{name}: {how} to {twin}", nothing


def swap(path: Path, twin: Path, pause_s: float, over: threading.Event) -> None:
    """The file or folder, and a link to its twin, in turn."""
    real, link = path.with_name("real.tmp"), path.with_name("link.tmp")
    with suppress(OSError):
        while not over.is_set():
            path.rename(real)
            path.symlink_to(twin)
            over.wait(pause_s)
            path.rename(link)
            real.rename(path)
            link.unlink()
            over.wait(pause_s)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode)
            for path in folder.rglob("*")}  # fmt: skip


def links(part: Part) -> None:
    for current in part.tries():
        choose = current.random
        marker = f"marker{choose.randrange(1 << 40)}"
        root, outside, out = (current.working / name for name in ("received", "outside", "out"))
        finished(root)
        shutil.copytree(root, outside)
        marked(outside, marker)
        if choose.random() < 0.3:
            shutil.copytree(outside, current.working, dirs_exist_ok=True)
        before = contents(outside)
        out.mkdir()
        form, case = choose.choice(["md", "html", "json", "text"]), root / "check" / "case"
        # The folder in which the links are is the one that is named: the way to it is the user's.
        folder, command = choose.choice([
            (root, ["report", root, "--format", form, "--keep-private"]),
            (root / "check", ["report", root / "check", "--format", form, "--keep-private", "-o", out / "report"]),
            (root, ["attach", root, "--repo", "octo/kernels", "--dry-run", "--gist"]),
            (case, ["check", case, "--no-suggest", "--json", "--timeout", "10", "-o", out]),
            (case, ["check", case, "--no-suggest", "--json", "--timeout", "10", "-o", out]),
            (root / "check", ["check", root / "minimized", "--no-suggest", "--timeout", "10", "-o", root / "check"]),
        ])  # fmt: skip
        planted = [plant(choose, root, folder, outside) for _ in range(choose.choice([1, 1, 2]))]
        names = ", ".join(name for name, _ in planted)
        current.description = f"{command[0]} {command[-1]}: {names}"

        def beside(_: int, over: threading.Event, planted: list = planted) -> None:
            threads = [threading.Thread(target=work, args=(over,)) for _, work in planted]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        done = current.triage(*command, bound_s=BOUND_S, variables={"SOAK_MARKER": marker}, meanwhile=beside)
        current.expect(done.code in (0, 1, 2, 3) or done.late, Defect.INTERNAL, f"{done.code}: {done.err[-1000:]}")
        kept = [path for path in (*out.rglob("*"), *root.rglob("*")) if path.is_file() and not linked(path, root, out)]
        texts = {"output": done.out, "errors": done.err} | {
            str(path): path.read_text(errors="replace") for path in kept
        }
        for name, text in texts.items():
            at = text.find(marker)
            current.expect(at < 0, Defect.OUTSIDE, f"{name}: {text[max(0, at - 200) : at + 100]!r}")
        current.expect(contents(outside) == before, Defect.OUTSIDE, "what lies outside was changed")
        current.nothing_left()


def linked(path: Path, *roots: Path) -> bool:
    """Whether a file is reached through a link below one of the folders."""
    return any(parent.is_symlink() for parent in (path, *path.parents) if any(parent.is_relative_to(r) for r in roots))
