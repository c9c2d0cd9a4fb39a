"""Compiles kernels in a process that changes all that processes inherit, as daemons and launchers do."""

import os
import shutil
import signal
import stat
import sys
import tempfile

import guarded

CACHES = {name: os.environ[name] for name in ("TRITON_CACHE_DIR", "TRITON_TRIAGE_CACHE") if name in os.environ}


def opened():
    """The number that the next file gets."""
    number = os.open(os.devnull, os.O_RDONLY)
    os.close(number)
    return number


def waits():
    """Whether the first child that ends is the one that was started."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.wait()[0] == child


def main():
    print("waits", [waits() for _ in range(20)])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
    print(*guarded.compile_one("no", 64), opened())
    os.closerange(3, 4096)
    print([os.open(os.devnull, os.O_RDONLY) for _ in range(600)][-1])
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)
    os.umask(0o777)
    os.environ.clear()
    os.environ.update(CACHES)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.stdout.flush()
    child = os.fork()
    os.setsid() if child == 0 else os.waitpid(child, 0)
    print(*guarded.compile_one("no", 256 if child else 128))
    print("ends", stat.S_ISCHR(os.fstat(602).st_mode))


if __name__ == "__main__":
    main()
