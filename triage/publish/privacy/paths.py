"""Paths, shortened to what is the project's or a package's; of any other, the name of the file alone.

``/home/jane/acme/kernels/mm.py`` in the project ``/home/jane/acme`` is ``kernels/mm.py``; Triton's own
``…/site-packages/triton/compiler/code_generator.py`` is ``triton/compiler/code_generator.py``, and so is what the
release's builders left in assertions. Where system software lies (``/usr/lib``, CUDA, ROCm) is said whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_CHARACTER = r"(?:[^\s/\\\"'`<>|:;,()\[\]{}*?&#$=\u2026]|\\ )"
_POSIX = re.compile(
    rf"(?:(?<![\w.~/>\\$%\u2026])|(?<=[\s\"'=]-[ILB])|(?<=file:/)|(?<=file://))/(?:{_CHARACTER}{{1,255}}/){{1,64}}(?:{_CHARACTER}{{1,255}})?"
)
# In quotes a space is part of the path; it is told there by where people's files lie.
_QUOTED = re.compile(r"(?<=[\"'])(?:file://)?/(?:home|Users|Volumes|mnt/[a-z]/Users)/[^\"'\n<>]{1,1024}(?=[\"'])")
_TILDE = re.compile(
    rf"(?<![\w.~/\u2026])~[a-z_]?[\w.-]{{0,31}}/(?:{_CHARACTER}{{1,255}}/){{0,64}}(?:{_CHARACTER}{{1,255}})?"
)
_NAME = r"[\w.$~@()+-]{1,64}(?: [\w.$~@()+-]{1,64}){0,5}"
_DRIVE = r"[A-Z]:(?=\\)|[A-Za-z]:(?=(?:\\{1,4}|/)(?:Users|users|Documents and Settings)[\\/])"
"""A small letter, and C:/, only where a home folder follows: a label or a key in code is followed by an escape."""
_WINDOWS = re.compile(
    # A drive, perhaps behind the long form's prefix, or a server; each backslash perhaps escaped.
    rf"(?<![\w\\])(?:(?:\\{{2,4}}[?.]\\{{1,2}})?(?:{_DRIVE})|\\{{2,4}}(?=[\w.-]{{0,62}}[A-Za-z])[\w.-]{{2,63}})"
    # Folders, whose names may have spaces, and a file
    rf"(?:\\{{1,4}}|/)(?:{_NAME}(?:\\{{1,4}}|/)){{1,32}}(?:[\w.$~@+-]{{1,127}})?"
)
_HOME = re.compile(r"(?:/home|/Users|/u/home|/usr/home|/export/home|/google/home)/(?P<user>[\w.-]{1,64})")
_WINDOWS_HOME = re.compile(
    r"[\\/](?:Users|Documents and Settings)[\\/]{1,4}(?P<user>[\w.-]{1,64}(?: [\w.-]{1,64})?)(?=[\\/\"'\s]|$)"
)

_PUBLIC = re.compile(
    r"/(?:usr/(?:bin|sbin|lib|lib32|lib64|libexec|include|share/(?!home)|local/(?:bin|lib|include|cuda[^/]*)(?=/|$)|src/(?:linux|nvidia)[^/]*)"
    r"|lib|lib64|bin|sbin|proc(?!/\d)|dev|sys|opt/(?:rocm|nvidia|cuda)[^/]*|etc/(?:ld\.so|os-release)[^/]*)(?:/|$)"
)
_BUILT = re.compile(r"/(?:project|source|__w/triton/triton)/")
"""Where the wheels of Triton and LLVM are built (cibuildwheel mounts the checkout at /project)."""
_PACKAGES = re.compile(r".*/(?:site-packages|dist-packages)/")
_PYTHON = re.compile(r".*/lib(?:64)?/(?=python3\.\d+/)")
_ROOTS = re.compile(
    r".*/(?=(?:\.triton|triage/(?:harness|capture)|third_party|llvm-project|mlir|llvm|triton|torch|torch_xla)/)"
)
"""Folders from which on a path is one in a public source tree."""
_TOOLS = re.compile(
    r"(?:ptxas|ld\.lld|lld|llc|opt|triton-opt|mlir-opt|nvdisasm|cuobjdump|python[\d.]*|gcc|g\+\+|clang[\d+.-]*|triage|pytest|torchrun)"
)
_FILE = re.compile(r"[^/]{1,200}\.[A-Za-z0-9_.]{1,16}")

_NO_PERSON = frozenset(
    {
        "root", "home", "tmp", "temp", "user", "users", "runner", "runneradmin", "ubuntu", "debian", "centos",
        "ec2-user", "azureuser", "opc", "admin", "administrator", "public", "default", "jovyan", "vscode",
        "vagrant", "builder", "build", "work", "workspace", "app", "code", "src", "data", "shared", "all_users",
        "docker", "container", "nobody", "guest", "circleci",
    }
)  # fmt: skip
"""Accounts that images and CI services have, which name nobody."""


def names_of(text: str) -> set[str]:
    """The users that home folders in a text belong to."""
    found = {match["user"] for pattern in (_HOME, _WINDOWS_HOME) for match in pattern.finditer(text)}
    return {name for name in found if is_person(name)}


def is_person(name: str) -> bool:
    """Whether an account's name may be somebody's."""
    return len(name) >= 3 and name.lower() not in _NO_PERSON and not name.startswith(".")


class Paths:
    """Shortens paths. ``projects``: folders whose files are told relative to them, the innermost that fits."""

    def __init__(self, projects: Sequence[Path] = (), home: str = "") -> None:
        roots = {str(folder).rstrip("/") for folder in projects}
        self._projects = sorted((root for root in roots if root.count("/") > 1 and root != home), key=len, reverse=True)
        inside = "|".join(re.escape(root) for root in self._projects)
        # A folder's name may hold what no path in a text would be taken to go on with, a space for one.
        self._known = (
            re.compile(rf"(?<![\w.~])(?:{inside})(?=[/\s\"'`:,;)\]}}>]|$)(?:/(?=[^\s/]))?") if inside else None
        )
        self._home = re.compile(rf"{re.escape(home)}(?=[/\s\"'`:,;)\]}}>]|$)") if home.count("/") > 1 else None
        self.count = 0

    def text(self, text: str) -> str:
        """The text with its paths shortened."""
        self.count = 0
        if "/" in text:
            if self._known is not None:
                text = self._known.sub(self._project, text)
            text = _QUOTED.sub(self._shorter, text)
            text = _POSIX.sub(self._shorter, text)
            if self._home is not None:
                text = self._home.sub(self._folder, text)
            text = _HOME.sub(self._folder, text)
            if "~" in text:
                text = _TILDE.sub(self._tilde, text)
        if "\\" in text or ":/" in text:
            text = _WINDOWS.sub(self._windows, text)
        return text

    def _counted(self, before: str, after: str) -> str:
        self.count += before != after
        return after

    def _project(self, match: re.Match[str]) -> str:
        return self._counted(match[0], "" if match[0].endswith("/") else ".")

    def _folder(self, match: re.Match[str]) -> str:
        return self._counted(match[0], "~")

    def _tilde(self, match: re.Match[str]) -> str:
        # ~x/y is an expression as well; what a file's name ends is a path.
        name = match[0].rpartition("/")[2]
        return self._counted(match[0], _tail(name)) if match[0].startswith("~/") or _FILE.fullmatch(name) else match[0]

    def _shorter(self, match: re.Match[str]) -> str:
        return self._counted(match[0], shortened(match[0].removeprefix("file://")))

    def _windows(self, match: re.Match[str]) -> str:
        return self._counted(match[0], shortened("/" + re.sub(r"[\\/]+", "/", match[0]).lstrip("/").partition("/")[2]))


def shortened(path: str) -> str:
    """An absolute path, with slashes, of no known project."""
    if _HOME.fullmatch(path.rstrip("/")):
        return "~"
    for pattern in (_PACKAGES, _PYTHON):
        if found := pattern.match(path):
            return path[found.end() :] or "site-packages"
    if found := _BUILT.match(path):
        return path[found.end() :] or "."
    if (found := _ROOTS.match(path)) and not _PUBLIC.match(path):
        return path[found.end() :]
    if _PUBLIC.match(path):
        return path
    return _tail(path.rstrip("/").rpartition("/")[2])


def _tail(name: str) -> str:
    """What is left of a path that is nobody's business."""
    return f"\u2026/{name}" if _FILE.fullmatch(name) or _TOOLS.fullmatch(name) else "\u2026"
