"""Classifies an installer's output, and words the failure for the user. Pure; the tables hold the knowledge."""

import platform
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from triage.model.compilers import COMPILERS
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.releases import ReleaseRequest, nearest


class Problem(Enum):
    """Why an environment could not be made."""

    DISK_FULL = "disk full"
    NOT_WRITABLE = "not writable"
    NO_NETWORK = "no network"
    NO_VENV = "no venv module"
    NO_WHEEL = "no wheel for this Python"
    NO_WHEEL_AT_ALL = "no wheel for this machine"
    NO_PACKAGE = "no such package in the index"
    NO_SUCH_VERSION = "no such version"
    OTHER = "other"


_NAMES = "|".join(re.escape(compiler.distribution) for compiler in COMPILERS.values())
# The first that matches wins. The order matters: pip reports an index that it cannot reach, and a version that
# has no wheel for this Python, in the same words as a version that does not exist.
_SIGNS: tuple[tuple[Problem, re.Pattern[str]], ...] = (
    (Problem.DISK_FULL, re.compile(r"No space left on device|Disk quota exceeded|Errno 28\b", re.I)),
    (
        Problem.NO_NETWORK,
        re.compile(
            r"error sending request for url|dns error|tcp connect error|client error \(Connect\)|"  # uv
            r"network was disabled|operation timed out|"
            r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|SSLError|"  # pip
            r"Temporary failure in name resolution|Name or service not known|Connection refused|"
            r"(?:status code|HTTP status|HTTP error)\D{0,40}\b(?:401|403|407|5\d\d)\b",
            re.I,
        ),
    ),
    (Problem.NOT_WRITABLE, re.compile(r"Permission denied|Read-only file system|Operation not permitted", re.I)),
    (Problem.NO_VENV, re.compile(r"ensurepip is not available|No module named '?(?:venv|ensurepip|pip)\b", re.I)),
    (Problem.NO_WHEEL, re.compile(r"no wheels with a matching Python", re.I)),
    (Problem.NO_WHEEL_AT_ALL, re.compile(r"no wheels with a matching platform|no usable wheels", re.I)),
    (
        Problem.NO_PACKAGE,
        re.compile(
            rf"(?:{_NAMES}) was not found in the (?:package registry|provided package)|\(from versions: none\)", re.I
        ),
    ),
    (
        Problem.NO_SUCH_VERSION,
        re.compile(
            rf"there (?:is|are) no versions? of (?:{_NAMES})|only (?:{_NAMES})\S+ (?:is|are) available|"  # uv
            rf"only the following versions of (?:{_NAMES})\b|No matching distribution found for (?:{_NAMES})",
            re.I,
        ),
    ),
    (Problem.NO_WHEEL, re.compile(r"depends on Python|Requires-Python", re.I)),
)
# What happened, and the fix.
_MESSAGES: dict[Problem, tuple[str, str]] = {
    Problem.DISK_FULL: (
        "no space left for {folder}",
        "free about 1 GB there, or set TRITON_TRIAGE_CACHE to a folder on another disk",
    ),
    Problem.NOT_WRITABLE: (
        "{folder} is not writable ({line})",
        "set TRITON_TRIAGE_CACHE to a folder that you may write",
    ),
    Problem.NO_NETWORK: (
        "no package index answers ({line})",
        "check the network, the proxy and the index settings, or use --python PATH",
    ),
    Problem.NO_PACKAGE: (
        "the package index in use does not have it",
        "check the index settings of uv or pip, or use --python PATH",
    ),
    Problem.NO_VENV: ("this Python cannot make environments", "install uv, or your system's python3-venv package"),
    Problem.NO_WHEEL: (
        "it has {pythons}",
        "install a Python that it has one for, or use --python PATH with an environment that has this release",
    ),
    Problem.NO_WHEEL_AT_ALL: (
        "it has no wheel for {machine}",
        "use --python PATH with an environment that has a build of it",
    ),
    Problem.OTHER: ("{line}", "`triage doctor` shows the installer, the disk and the caches"),
}
_LISTED = re.compile(rf"(?:{_NAMES})==\S+ \(from versions: ([^)]*)\)")
_ABI_TAGS = re.compile(rf"only found wheels for `(?:{_NAMES})` .*?with the following Python (?:ABI )?tags?: ([^\n]*)")
_CREDENTIALS = re.compile(r"(://)[^/@\s]+@")


@dataclass
class InstallFailure(Exception):
    """Why an installer's command failed. ``line``: the most informative line of its output. ``released``: the versions
    that it lists; ``pythons``: those with a wheel, if it lists them."""

    problem: Problem
    line: str
    released: tuple[str, ...] = ()
    pythons: frozenset[str] = frozenset()


def redact(text: str) -> str:
    """``text`` without the credentials that an index's address may carry."""
    return _CREDENTIALS.sub(r"\1***@", text)


def diagnose(output: str, request: ReleaseRequest) -> InstallFailure:
    """Read what uv, pip or venv printed before they failed."""
    listed = _LISTED.search(output)
    released = tuple(version.strip() for version in listed.group(1).split(",")) if listed else ()
    tags = _ABI_TAGS.search(output)
    pythons = frozenset(f"3.{minor}" for minor in re.findall(r"`?cp3(\d+)\b", tags.group(1))) if tags else frozenset()
    for problem, sign in _SIGNS:
        if match := sign.search(output):
            if problem is Problem.NO_SUCH_VERSION and any(
                request.accepts(release) for release in request.compiler.releases
            ):
                # uv looked at every file of the index. pip lists only what fits this Python.
                problem = Problem.NO_WHEEL if released else Problem.NO_PACKAGE  # noqa: PLW2901 - corrected
            line = output.split("\n")[output.count("\n", 0, match.start())]
            return InstallFailure(problem, _short(line), released, pythons)
    return InstallFailure(Problem.OTHER, _telling_line(output), released, pythons)


def explain(failure: InstallFailure, request: ReleaseRequest, *, folder: Path, log: Path) -> TriageError:
    """The one line for the user: what happened, and the fix."""
    if failure.problem is Problem.NO_SUCH_VERSION:
        compiler = request.compiler
        near = ", ".join(nearest(request.text, failure.released or compiler.releases, compiler=compiler))
        return InputError(
            f"{compiler.option} {request.text}: there is no such release of {compiler.title}; the nearest are {near}"
        )
    series = sorted(failure.pythons, key=lambda name: int(name.partition(".")[2]))
    problem, fix = _MESSAGES[failure.problem]
    problem = problem.format(
        line=failure.line,
        folder=folder,
        machine=f"{platform.system()} {platform.machine()}",
        pythons=f"wheels for Python {', '.join(series)} only" if series else "no wheel for the Pythons found here",
    )
    return EnvironmentFault(
        f"{request.compiler.title} {request.text} could not be installed: {problem}; {fix}; log: {log}"
    )


def _telling_line(output: str) -> str:
    """uv's last cause, or pip's last error, or whatever came last."""
    lines = [line for line in output.splitlines() if line.strip()] or ["the installer printed nothing"]
    causes = [line for line in lines if line.lstrip().startswith("cause:")]
    errors = [line for line in lines if re.match(r"\s*(error|fatal)\b", line, re.I)]
    return _short((causes or errors or lines)[-1])


def _short(line: str) -> str:
    line = re.sub(r"^\s*(?:error|warning|cause)\s*:\s*", "", line.strip(), flags=re.I)
    return line if len(line) <= 160 else f"{line[:157]}..."
