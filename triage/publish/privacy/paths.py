"""Paths, shortened to the part inside a project or a package; of other paths only the name of the file remains.

``/home/jane/acme/kernels/mm.py`` in the project ``/home/jane/acme`` is ``kernels/mm.py``; Triton's own
``…/site-packages/triton/compiler/code_generator.py`` is ``triton/compiler/code_generator.py``, and so is what the
release's builders left in assertions. Paths of system software (``/usr/lib``, CUDA, ROCm) stay whole.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from triage.publish.privacy.rule import ScrubRule

_CHARACTER = r"(?:[^\s/\\\"'`<>|:;,()\[\]{}*?&#$=\u2026]|\\ )"
_POSIX = re.compile(
    rf"/(?:(?<![\w.~/>\\$%\u2026].)|(?<=[\s\"'=]-[ILB].)|(?<=file:/.)|(?<=file://.))(?:{_CHARACTER}{{1,255}}/){{1,64}}(?:{_CHARACTER}{{1,255}})?"
)
# In quotes a space is part of the path, which is recognised by the folders that hold people's files.
_QUOTED = re.compile(
    r"/(?:(?<=[\"'].)|(?<=[\"']file://.))(?:home|Users|Volumes|mnt/[a-z]/Users)/[^\"'\n<>]{1,1024}(?=[\"'])"
)
_TILDE = re.compile(
    rf"~(?<![\w.~/\u2026].)[a-z_]?[\w.-]{{0,31}}/(?:{_CHARACTER}{{1,255}}/){{0,64}}(?:{_CHARACTER}{{1,255}})?"
)
_NAME = r"[\w.$~@()+-]{1,64}(?: [\w.$~@()+-]{1,64}){0,5}"
_DRIVE = r"[A-Z]:(?=\\)|[A-Za-z]:(?=(?:\\{1,4}|/)(?:Users|users|Documents and Settings)[\\/])"
"""A small letter, and C:/, only where a home folder follows: a label or a key in code is followed by an escape."""
# Folders, whose names may have spaces, and a file; each backslash is perhaps escaped.
_INSIDE = rf"(?:\\{{1,4}}|/)(?:{_NAME}(?:\\{{1,4}}|/)){{1,32}}(?:[\w.$~@+-]{{1,127}})?"
_WINDOWS = re.compile(rf"(?<![\w\\])(?:\\{{2,4}}[?.]\\{{1,2}})?(?:{_DRIVE}){_INSIDE}")
"""A drive, perhaps behind the long form's prefix."""
_SERVER = re.compile(rf"(?<![\w\\])\\{{2,4}}(?=[\w.-]{{0,62}}[A-Za-z])[\w.-]{{2,63}}{_INSIDE}")
_DRIVE_LEAD = re.compile(r"[A-Za-z?.\\]{1,8}")
_HOME = re.compile(r"/(?:home|Users|u/home|usr/home|export/home|google/home)/(?P<user>[\w.-]{1,64})")
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
"""Accounts of images and CI services, which identify no person."""


def names_of(text: str) -> set[str]:
    """The users that home folders in a text belong to."""
    users = {match["user"] for pattern in (_HOME, _WINDOWS_HOME) for match in pattern.finditer(text)}
    return {name for name in users if is_person(name)}


def is_person(name: str) -> bool:
    """Whether an account's name may identify a person."""
    return len(name) >= 3 and name.lower() not in _NO_PERSON and not name.startswith(".")


def path_rules(projects: Sequence[Path] = (), home: str = "") -> tuple[ScrubRule, ...]:
    """The rules that shorten paths, in the order of application. ``projects``: folders whose files become relative to
    them, the innermost that fits."""
    end = r"(?=[/\s\"'`:,;)\]}>]|$)"
    roots = {str(folder).rstrip("/") for folder in projects}
    own = sorted((root for root in roots if root.count("/") > 1 and root != home), key=len, reverse=True)
    rules = []
    if own:
        # The name of a folder may have characters that end a path in other texts, such as a space.
        inside = "|".join(map(re.escape, own))
        rules.append(_rule(rf"(?<![\w.~])(?:{inside}){end}(?:/(?=[^\s/]))?", _in_project, *own))
    rules += [_rule(_QUOTED, _shorter, needs="/"), _rule(_POSIX, _shorter, needs="/")]
    if home.count("/") > 1:
        rules.append(_rule(re.escape(home) + end, lambda match: "~", home))
    rules += [_rule(_HOME, lambda match: "~", needs="/"), _rule(_TILDE, _tilde, needs="~")]
    rules.append(ScrubRule("path", _WINDOWS, _windows, (":\\", ":/"), _DRIVE_LEAD))
    rules.append(_rule(_SERVER, _windows, "\\\\"))
    return tuple(rules)


def _rule(
    pattern: str | re.Pattern[str], replace: Callable[[re.Match[str]], str], *anchors: str, needs: str = ""
) -> ScrubRule:
    lowered = tuple(anchor.lower() for anchor in anchors)
    return ScrubRule("path", re.compile(pattern), replace, lowered, needs=(needs,) if needs else ())


def _in_project(match: re.Match[str]) -> str:
    return "" if match[0].endswith("/") else "."


def _shorter(match: re.Match[str]) -> str:
    return shortened(match[0].removeprefix("file://"))


def _tilde(match: re.Match[str]) -> str:
    # ~x/y is an expression as well; what a file's name ends is a path.
    name = match[0].rpartition("/")[2]
    return _tail(name) if match[0].startswith("~/") or _FILE.fullmatch(name) else match[0]


def _windows(match: re.Match[str]) -> str:
    return shortened("/" + re.sub(r"[\\/]+", "/", match[0]).lstrip("/").partition("/")[2])


def shortened(path: str) -> str:
    """An absolute path, with slashes, of no known project."""
    if _HOME.fullmatch(path.rstrip("/")):
        return "~"
    for pattern in (_PACKAGES, _PYTHON):
        if match := pattern.match(path):
            return path[match.end() :] or "site-packages"
    if match := _BUILT.match(path):
        return path[match.end() :] or "."
    if _PUBLIC.match(path):
        return path
    if match := _ROOTS.match(path):
        return path[match.end() :]
    return _tail(path.rstrip("/").rpartition("/")[2])


def _tail(name: str) -> str:
    """What remains of a private path."""
    return f"\u2026/{name}" if _FILE.fullmatch(name) or _TOOLS.fullmatch(name) else "\u2026"
