"""Reading and writing in folders that somebody else may have filled."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from triage.filesystem.files import (
    ANYWHERE,
    LeavesFolder,
    make_folder,
    open_file,
    open_log,
    read_file,
    replace_file,
    resolved,
)
from triage.model.errors import fault

SECRET = b"the user's key"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A received folder, beside a file that is none of its own."""
    (tmp_path / "secret").write_bytes(SECRET)
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    (folder / "file").write_bytes(b"its own")
    return folder


def link(name: str, target: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).symlink_to(target)
        return folder / name

    return make


def by_name(name: str) -> Callable[[Path], Path]:
    return lambda folder: folder / name


def linked_parent(folder: Path) -> Path:
    (folder / "parent").symlink_to(folder.parent)
    return folder / "parent" / "secret"


def link_to_link(folder: Path) -> Path:
    (folder / "first").symlink_to(folder.parent / "secret")
    (folder / "below" / "second").symlink_to("../first")
    return folder / "below" / "second"


def linked_in_and_out(folder: Path) -> Path:
    """Back into the folder through a link outside is inside, as resolved; on from there it is not."""
    (folder.parent / "outside").symlink_to(folder)
    (folder / "round").symlink_to("../outside/../secret")
    return folder / "round"


OUTSIDE = {
    "a link": link("link", "../secret"),
    "an absolute name": lambda folder: folder.parent / "secret",
    "a name with dots": by_name("../secret"),
    "dots behind a folder": by_name("below/../../secret"),
    "a linked parent": linked_parent,
    "a link to a link": link_to_link,
    "round about": linked_in_and_out,
    "what a descriptor shows": link("link", "/proc/self/environ"),
    "a folder with the same beginning": lambda folder: folder.with_name("in-other") / "file",
}


@pytest.mark.parametrize("make", OUTSIDE.values(), ids=OUTSIDE)
def test_what_lies_outside_is_not_read(folder: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(LeavesFolder, match="leads out of"):
        read_file(make(folder), folder, 100)


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def unix_socket(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
    return folder / "socket"


def huge(folder: Path) -> Path:
    os.truncate(folder / "file", 1 << 40)
    return folder / "file"


NOT_READ = {
    "a pipe": (pipe, "not a regular file"),
    "a link to a pipe": (lambda folder: link("link", str(pipe(folder)))(folder), "not a regular file"),
    "a socket": (unix_socket, "not a regular file"),
    "a folder": (by_name("below"), "not a regular file"),
    "the folder itself": (by_name(""), "not a regular file"),
    "a link to itself": (link("loop", "loop"), "not a regular file"),
    "a device": (lambda _: Path("/dev/zero"), "not a regular file"),
    "nothing": (by_name("nothing"), "No such file"),
    "a link to nothing": (link("link", "nothing"), "No such file"),
    "below a file": (by_name("file/below"), "file is a link or a file, not a folder"),
    "a null byte": (by_name("a\0b"), "not a file name"),
    "a long name": (by_name("x" * 300), "File name too long"),
    "a huge file": (huge, "1048576 MiB; at most 0 MiB are read"),
}


@pytest.mark.parametrize(("make", "problem"), NOT_READ.values(), ids=NOT_READ)
def test_what_is_no_file_of_a_bounded_size_is_not_read(
    folder: Path, make: Callable[[Path], Path], problem: str
) -> None:
    path = make(folder)
    with pytest.raises(OSError, match=problem) as error:
        read_file(path, folder if path.is_relative_to(folder) else ANYWHERE, 100)
    assert problem in error.value.strerror


def test_a_link_inside_and_a_folder_that_is_a_link_are_read(folder: Path) -> None:
    (folder / "link").symlink_to("below/../file")
    (folder.parent / "named").symlink_to(folder)
    for named in (folder, folder.parent / "named"):
        assert read_file(named / "link", named, 100) == b"its own"
    (folder / "out").symlink_to("../secret")
    assert read_file(folder / "out", ANYWHERE, 100) == SECRET
    assert read_file(Path("/proc/self/stat"), ANYWHERE, 1 << 12)


def test_a_folder_may_be_named_from_where_one_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert read_file(Path("file"), Path(), 100) == b"its own"
    assert read_file(Path("../in/file"), Path(), 100) == b"its own"
    with pytest.raises(LeavesFolder):
        read_file(Path("../secret"), Path(), 100)


def test_a_file_without_permission_is_not_read() -> None:
    """Root may read everything, so the reader is another user's process."""
    code = (
        "import os, sys; from pathlib import Path; from triage.filesystem.files import read_file\n"
        "os.getuid() or os.setuid(65534)\n"
        "try: read_file(Path(sys.argv[1]), Path(sys.argv[2]), 9)\n"
        "except OSError as error: print(error.strerror)"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "file"
        path.touch(0)
        done = subprocess.run([sys.executable, "-c", code, path, folder], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("Permission denied\n", "")


@contextmanager
def exchanging(path: Path, other: Path) -> Iterator[None]:
    """Exchange two names again and again, from another thread."""
    ended = threading.Event()

    def exchange() -> None:
        spare = path.with_name("spare")
        while not ended.is_set():
            path.rename(spare)
            other.rename(path)
            path.rename(other)
            spare.rename(path)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", ["file", "below/file"])
def test_a_link_that_comes_after_the_check_is_not_followed(folder: Path, name: str) -> None:
    (folder / "below" / "file").write_bytes(b"its own")
    (folder.parent / "file").write_bytes(SECRET)
    first = name.partition("/")[0]
    (folder / "link").symlink_to(f"../{'file' if first == name else ''}")
    read, until = set(), time.monotonic() + 0.3
    with exchanging(folder / first, folder / "link"):
        while time.monotonic() < until:
            try:
                read.add(read_file(folder / name, folder, 100))
            except OSError as error:
                read.add(error.errno)
    assert b"its own" in read
    assert SECRET not in read


@pytest.mark.parametrize(
    ("content", "written"), [("größe\n", "größe\n".encode()), (b"\0\xff", b"\0\xff"), ("\ud800", b"?")]
)
def test_content_replaces_what_was_there(tmp_path: Path, content: str | bytes, written: bytes) -> None:
    path = tmp_path / "new" / "case.json"
    for _ in range(2):
        replace_file(path, content)
        assert path.read_bytes() == written
    assert list(path.parent.iterdir()) == [path]


def test_old_content_survives_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as error:
            replace_file(path, "new" * (1 << 16))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert error.value.errno == errno.EFBIG
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_in_the_place_of_a_file_is_replaced(folder: Path) -> None:
    secret = folder.parent / "secret"
    (folder / "log.txt").symlink_to(secret)
    (folder / f".log.txt.{os.getpid()}-{threading.get_ident()}").symlink_to(secret)
    replace_file(folder / "log.txt", "the log", folder)
    pipe(folder)
    replace_file(folder / "pipe", "the log", folder)
    assert (folder / "log.txt").read_text() == (folder / "pipe").read_text() == "the log"
    assert not (folder / "log.txt").is_symlink()
    assert secret.read_bytes() == SECRET


def test_nothing_is_written_through_a_linked_folder(folder: Path) -> None:
    target = folder.parent / "elsewhere"
    target.mkdir()
    (folder / "case").symlink_to(target)
    for path in (folder / "case" / "case.json", folder / "case" / "new" / "case.json"):
        with pytest.raises(NotADirectoryError):
            replace_file(path, "{}", folder)
    with pytest.raises(NotADirectoryError):
        make_folder(folder / "case", folder)
    with pytest.raises(LeavesFolder):
        replace_file(folder / "below" / ".." / ".." / "elsewhere" / "case.json", "{}", folder)
    assert list(target.iterdir()) == []


def test_a_log_is_not_appended_to_through_a_link(folder: Path) -> None:
    for _ in range(2):
        with open_log(folder / "new" / "log", folder) as log:
            log.write(b"line\n")
    assert (folder / "new" / "log").read_bytes() == b"line\nline\n"
    (folder / "log").symlink_to("../secret")
    for path in (folder / "log", pipe(folder)):
        with pytest.raises(OSError, match=r"symbolic links|No such device"):
            open_log(path, folder)
    assert (folder.parent / "secret").read_bytes() == SECRET


def test_no_descriptor_is_left_open(folder: Path) -> None:
    def attempt() -> None:
        for path in (folder / "file", folder / "below", folder / "nothing" / "x", folder.parent / "secret"):
            with suppress(OSError):
                open_file(path, folder).close()
        replace_file(folder / "below" / "new", "", folder)

    attempt()
    before = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    attempt()
    assert sorted(path.name for path in Path("/proc/self/fd").iterdir()) == before


def test_a_file_that_left_its_folder_meanwhile_is_no_internal_error(tmp_path: Path) -> None:
    """It was read before, and another process has replaced it by a link since."""
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "kernel.py").symlink_to(tmp_path)
    with pytest.raises(LeavesFolder) as caught:
        read_file(tmp_path / "case" / "kernel.py", tmp_path / "case", 1)
    assert str(fault(caught.value)) == (
        f"{tmp_path}/case/kernel.py: leads out of {tmp_path}/case; put a copy of the file in its place"
    )


def test_a_circle_of_links_has_a_path(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    assert resolved(tmp_path / "one" / "kernel.py").name == "kernel.py"
