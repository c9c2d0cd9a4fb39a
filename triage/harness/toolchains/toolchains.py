"""Finds a toolchain, or creates it."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from triage.filesystem.cache import cache_root
from triage.harness.deadline import Deadline
from triage.harness.toolchains import managed
from triage.harness.toolchains.builder import InstallPlan, make
from triage.harness.toolchains.failures import InstallFailure, Problem, explain
from triage.harness.toolchains.installers import Installer, find_installer
from triage.harness.toolchains.model import Toolchain, fingerprint, libraries
from triage.harness.toolchains.probe import NotPython, import_path, probe, version_line
from triage.model.compilers import TRITON, Compiler
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.releases import ReleaseRequest, is_supported, numbers, parse, sort_key

_OWN_SERIES = f"3.{sys.version_info.minor}"
# Triton's wheels start at Python 3.8 (Triton 3.0); the upper end is open and only bounds the search.
_MINORS = range(8, 20)


class Toolchains:
    """The toolchains of this machine. ``progress`` gets a line for people before anything that takes long. What is
    not made at ``deadline`` is given up."""

    def __init__(
        self,
        cache_dir: Path | None = None,
        progress: Callable[[str], None] | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self.deadline = deadline or Deadline()
        self._root = (cache_root() if cache_dir is None else cache_dir.absolute()) / "toolchains"
        self._progress = progress or (lambda line: None)
        self._defaults: dict[Compiler, Toolchain] = {}

    def resolve(self, release: str | None = None, python: str | None = None, compiler: Compiler = TRITON) -> Toolchain:
        """The toolchain that ``--triton`` (``--cute``) and ``--python`` mean; without either the default.

        Raises InputError when both are given, and what :meth:`default`, :meth:`from_python` and :meth:`managed`
        raise.
        """
        if release is not None and python is not None:
            raise InputError(
                f"{compiler.option} and --python exclude each other; --python already says which {compiler.title}"
            )
        if python is not None:
            return self.from_python(python, compiler)
        if release is None:
            return self.default(compiler)
        request = parse(release, compiler)
        beside = self._default_or_none(compiler)
        return beside if beside is not None and request.is_met_by(beside.release) else self.managed(release, compiler)

    def default(self, compiler: Compiler = TRITON) -> Toolchain:
        """The compiler beside triage. Raises EnvironmentFault when there is none that can be used."""
        if compiler not in self._defaults:
            if not sys.executable:
                raise EnvironmentFault(
                    f"this Python does not know its own path; use --python PATH or {compiler.option} VERSION"
                )
            try:
                self._defaults[compiler] = _examine(Path(sys.executable), compiler)
            except InputError as error:
                raise EnvironmentFault(str(error)) from None
        return self._defaults[compiler]

    def from_python(self, python: str | Path, compiler: Compiler = TRITON) -> Toolchain:
        """Somebody's own environment: an interpreter's path or name, or an environment's folder.

        Raises InputError: no such file, not Python, too old, no such compiler, one that is too old or not built.
        """
        return _examine(_locate(python), compiler)

    def installed(self, compiler: Compiler = TRITON) -> list[Toolchain]:
        """What can be used at once: the complete managed environments and the default, by version."""
        environments = [each for each in managed.read_all(self._root) if each.compiler == compiler]
        candidates = [environment.toolchain() for environment in environments]
        beside = self._default_or_none(compiler)
        usable = [toolchain for toolchain in (*candidates, beside) if toolchain is not None]
        return sorted(usable, key=lambda toolchain: (sort_key(toolchain.release), toolchain.managed))

    def import_path(self, python: str | None = None) -> list[str]:
        """The folders in which an interpreter looks for modules, ``PYTHONPATH`` first; by default triage's own. Raises
        InputError for one that does not start."""
        if python is None:
            return [folder for folder in sys.path if folder]
        try:
            own = import_path(_locate(python))
        except NotPython as error:
            raise InputError(f"--python {python}: not a Python interpreter that starts ({error})") from None
        return [folder for folder in (*os.environ.get("PYTHONPATH", "").split(os.pathsep), *own) if folder]

    def managed(self, version: str, compiler: Compiler = TRITON) -> Toolchain:
        """The managed environment with that release of a compiler (``3.2.0``, or ``3.2`` for its newest patch).

        Created on first use, once, however many processes ask at the same time. Raises InputError for a text that is
        not a version, too old or not released, and EnvironmentFault when the environment cannot be made.
        """
        request = parse(version, compiler)
        return self._find(request) or self._make(request)

    def _default_or_none(self, compiler: Compiler) -> Toolchain | None:
        try:
            return self.default(compiler)
        except TriageError:
            return None

    def _find(self, request: ReleaseRequest) -> Toolchain | None:
        own = _OWN_SERIES
        fitting = [
            each
            for each in managed.read_all(self._root)
            if each.compiler == request.compiler and request.accepts(each.release) and each.serves(own)
        ]
        # The newest release; of two environments with it, the one that was built for triage's own Python.
        fitting.sort(key=lambda each: (sort_key(each.release), own not in each.stands_in_for), reverse=True)
        for environment in fitting:
            if (toolchain := environment.toolchain()) is not None:
                environment.touch()
                return toolchain
        return None

    def _make(self, request: ReleaseRequest) -> Toolchain:
        """Create the environment with triage's own Python, or with the nearest that has a wheel."""
        installer = find_installer()
        failed: list[tuple[str, InstallFailure]] = []
        # Environments with Triton, the first compiler, have no name in theirs.
        prefix = "" if request.compiler == TRITON else f"{request.compiler.name}-"
        for series, python in _pythons(installer, failed):
            plan = InstallPlan(
                request=request,
                installer=installer,
                python=python,
                folder=self._root / f"{prefix}{request.text}-py{series}",
                stands_in_for=tuple(sorted(series for series, _ in failed)),
                deadline=self.deadline,
            )
            try:
                return make(plan, found_meanwhile=lambda: self._find(request), progress=self._progress)
            except InstallFailure as failure:
                failed.append((series, failure))
                if failure.problem is not Problem.NO_WHEEL and python != series:
                    raise explain(failure, request, folder=plan.folder, log=plan.log) from None
        # The first failure lists the wheels that exist; that uv could not fetch a Python is not what the user needs.
        raise explain(failed[0][1], request, folder=self._root, log=self._root / f"{prefix}{request.text}-py*.log")


def _pythons(installer: Installer, failed: list[tuple[str, InstallFailure]]) -> Iterator[tuple[str, str]]:
    """Series and interpreter to try, in order; lazily, since the first nearly always does. ``failed`` grows meanwhile,
    and tells which series have a wheel at all when the installer said so. The last may be a bare series, which uv looks
    for in places of its own, or fetches if the user's settings let it."""
    yield _OWN_SERIES, sys.executable
    with_wheel = failed[-1][1].pythons
    own = sys.version_info.minor
    # Nearest to triage's own first: kernels are written for a Python near it.
    series_by_distance = [f"3.{minor}" for minor in sorted(_MINORS, key=lambda minor: (abs(minor - own), minor))]
    others = [s for s in series_by_distance if s != _OWN_SERIES and (not with_wheel or s in with_wheel)]
    for series in others:
        if (path := find_python(series)) is not None:
            yield series, str(path)
    if installer.uv and with_wheel and others:
        yield others[0], others[0]


def find_python(series: str) -> Path | None:
    """A working ``pythonX.Y``: on PATH, or beside the installation of triage's own Python."""
    name = f"python{series}"
    on_path = [path for folder in os.get_exec_path() if (path := Path(folder) / name).is_file()]
    # pyenv and uv keep their Pythons side by side, most of them not on PATH.
    for path in (*on_path, *sorted(Path(sys.base_prefix).parent.glob(f"*/bin/{name}"), reverse=True)):
        # Asked, since a version manager's shim exists for versions that it then refuses to start.
        with suppress(NotPython):
            if version_line(path).startswith(f"Python {series}."):
                return path
    return None


def _locate(python: str | Path) -> Path:
    # os.path instead of Path's methods, which raise for folders that may not be entered and users there are not.
    path = Path(os.path.expanduser(python))  # noqa: PTH111
    if not os.path.exists(path) and "/" not in str(python) and (on_path := shutil.which(str(python))):  # noqa: PTH110
        path = Path(on_path)
    # Never resolved: a virtual environment's interpreter is a link, and is what it is by its own path.
    path = path.absolute()
    if os.path.isdir(path):  # noqa: PTH112
        inside = path / "bin/python"
        if not os.path.exists(inside):  # noqa: PTH110
            raise InputError(f"--python {python}: a folder without bin/python; name an interpreter or an environment")
        return inside
    if not os.path.exists(path):  # noqa: PTH110
        raise InputError(f"--python {python}: no such file; name an interpreter, as in --python /env/bin/python")
    return path


def _examine(python: Path, compiler: Compiler) -> Toolchain:
    """Raises InputError with what the interpreter lacks."""
    title, option = compiler.title, compiler.option
    try:
        probed = probe(python, compiler)
    except NotPython as error:
        raise InputError(f"--python {python}: not a Python interpreter that starts ({error})") from None
    if numbers(probed.python_version) < (3, 8):
        raise InputError(f"--python {python}: Python {probed.python_version} is too old; 3.8 is the oldest supported")
    if probed.package is None:
        raise InputError(
            f"{python} has no {title}; `{python} -m pip install {compiler.distribution}`, or use {option} VERSION"
        )
    version = probed.release or "unknown"
    if not is_supported(version, compiler):
        raise InputError(
            f"{python} has {title} {version}; {compiler.oldest} is the oldest supported, use {option} VERSION"
        )
    if not libraries(probed.package, compiler):
        folder = (probed.package / compiler.libraries).parent
        raise InputError(f"{python} has a {title} without a compiled library in {folder}; build or reinstall it")
    try:
        identity = fingerprint(probed.package, compiler, release=version, python_version=probed.python_version)
    except OSError as error:
        raise InputError(f"{python} has a {title} that cannot be read ({error}); reinstall it") from None
    return Toolchain(python, version, probed.python_version, False, identity, probed.package, compiler)
