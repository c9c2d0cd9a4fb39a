"""``compile_matrix``: compile a kernel for GPUs that are absent and releases that are not installed.

There are three answers: it compiles, and the test asserts on the result; it fails, and the test fails with the
diagnosis; triage could not tell, and the test is skipped."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import pytest

from triage.capture.refusals import check
from triage.capture.service import answers
from triage.filesystem import scratch
from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes, parse_size
from triage.harness.toolchains import Toolchains
from triage.integrations import live_case
from triage.integrations.folders import case_folder
from triage.matrix.cell import CellVerdict, judge
from triage.matrix.releases import INSTALLED, select
from triage.model.case import Case
from triage.model.compilers import COMPILERS, CUTE, TRITON, Compiler
from triage.model.errors import EnvironmentFault, InputError
from triage.model.outcome import Resources
from triage.model.report import Report
from triage.model.target import Target
from triage.pipeline import Options, Session

_SESSION = pytest.StashKey["_Compiler"]()
_WARNED = pytest.StashKey[set[str]]()
_USAGE = "@pytest.mark.compile_matrix(targets=['cuda:80', 'cuda:90', 'hip:gfx942'], triton=['3.2.0', '3.6.0'])"
_WIDTH = 100
_NAMES = frozenset({"targets", *COMPILERS, "timeout", "memory", "undecided"})


@dataclass(frozen=True, slots=True)
class Combination:
    """Target and release of one test item. ``release`` is None for the one beside pytest, else of ``compiler``.
    ``undecided``: ``skip`` or ``fail`` when triage could not tell."""

    target: Target
    compiler: Compiler
    release: str | None
    limits: Limits
    undecided: str

    def __str__(self) -> str:
        return f"{self.target}-{self.release}" if self.release else str(self.target)

    def case(self, case: Case) -> Case:
        """The case with this release. Raises InputError where that is of another compiler."""
        if self.release is not None and case.compiler != self.compiler:
            own = case.compiler
            raise InputError(
                f"{case.name} is compiled by {own.title}, compile_matrix asks for {self.compiler.label(self.release)}; "
                f"write {own.name}=[…]"
            )
        return case.with_release(self.release)


class DoesNotCompile(AssertionError):
    """A combination that fails to compile; ``report`` has the details.

    ``pytest.mark.xfail(raises=…)`` with this class expects that failure and nothing else."""

    __module__ = "triage.integrations"

    def __init__(self, text: str, report: Report) -> None:
        super().__init__(text)
        self.report = report


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled kernel: its ``target``, release, and resources.

    ``resources`` has ``shared_bytes`` a block, ``registers`` and ``spill_bytes`` a thread, ``tensor_core`` (``wgmma``,
    ``mma.sync``, ``mfma``, …, ``none``) and more; None where the toolchain did not report it."""

    target: str
    release: str
    resources: Resources
    report: Report

    @property
    def triton(self) -> str:
        """The release of Triton that compiled it; empty for a kernel of CuTe DSL."""
        return self.release if self.report.case.compiler == TRITON else ""


class CompileMatrix:
    """The fixture's value. ``target``, and ``triton`` or ``cute``, None for the release beside pytest: what this item
    compiles for."""

    def __init__(self, combination: Combination, compiler: _Compiler, near: Sequence[Path]) -> None:
        self.target = str(combination.target)
        self.triton = combination.release if combination.compiler == TRITON else None
        self.cute = combination.release if combination.compiler == CUTE else None
        self._combination, self._compiler, self._near = combination, compiler, near

    def __call__(
        self,
        kernel: Any,
        *,
        signature: Mapping[str, str] | None = None,
        constexprs: Mapping[str, Any] | None = None,
        divisible: Mapping[str, int] | None = None,
        config: Any = None,
        construct: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Compiled:
        """Compile ``kernel``: a jitted function, an autotuner or heuristics around one, ``'path/kernel.py::name'``, or
        a case; of CuTe DSL a host function, or an object whose ``__call__`` is one.

        ``signature`` maps arguments to types (``*fp16``, ``i32``, ``tensor<f16, (64,64):(64,1)>``); ``construct`` has
        the arguments of the constructor where a text names a class; ``constexprs`` has the compile-time arguments
        that ``config`` (a ``triton.Config``) does not; ``divisible`` says which are divisible by 16 (pointers are,
        unless set to 1). ``options`` are ``num_warps``, ``num_stages`` and other back end options. Raises
        DoesNotCompile, and InputError where the arguments do not fit the kernel; skips where triage cannot tell."""
        __tracebackhide__ = True
        tuned, launched = live_case.of_config(config) if config is not None else ({}, {})
        stated = {
            "signature": dict(signature or {}),
            "constexprs": {**tuned, **(constexprs or {})},
            "divisible": dict(divisible or {}),
            "construct": dict(construct or {}),
            "options": {**launched, **options},
        }
        try:
            if isinstance(kernel, str | Path):
                case = live_case.from_text(str(kernel), self._near, stated, self._combination.target)
                return self._compiled(case, None, [])
            case, notes = live_case.from_kernel(kernel, self._compiler.folder, stated, self._combination.target)
            return self._compiled(case, case.folder, notes)
        except InputError as error:
            # From the test's own line, and in its terms.
            raise InputError(live_case.in_python(str(error), kernel)) from None

    def _compiled(self, case: Case, own_folder: Path | None, notes: list[str]) -> Compiled:
        __tracebackhide__ = True
        try:
            report = self._compiler.check(case, self._combination)
        except EnvironmentFault as error:
            self._undecided(str(error))
        cell = judge(report.case, report.release, report.outcome, report.diagnosis)
        if cell.verdict is CellVerdict.NOT_APPLICABLE:
            compiler = report.case.compiler.label(report.release)
            pytest.skip(f"not applicable: {compiler} lacks what the kernel uses: {cell.reason}")
        if cell.verdict is CellVerdict.COMPILES and report.outcome.resources is not None:
            if own_folder is not None:
                shutil.rmtree(own_folder, ignore_errors=True)
            return Compiled(self.target, report.release, report.outcome.resources, report)
        if report.diagnosis is None or cell.verdict is CellVerdict.UNDECIDED:
            self._undecided(f"{case.name}: could not tell: {cell.reason or 'it compiled, and left no metadata'}")
        if own_folder is not None:
            command = check(str(self._compiler.keep(report.case)))
        else:
            command = live_case.command(report.case, self._combination.release)
        raise DoesNotCompile(_text(report, command, notes), report)

    def _undecided(self, reason: str) -> NoReturn:
        __tracebackhide__ = True
        if self._combination.undecided == "fail":
            raise EnvironmentFault(f"{self._combination}: {reason}") from None
        pytest.skip(f"{self._combination}: {reason}")


def _text(report: Report, command: str, notes: list[str]) -> str:
    assert report.diagnosis is not None
    lines = answers.text(report.case, report.outcome, report.diagnosis, list(report.matches)).splitlines()
    head = f"{report.case.compiler.label(report.release)}: {lines[0]}"
    causes = [f"cause: {match.cause}" for match in report.matches[:1]]
    wrapped = [textwrap.fill(cause, _WIDTH, initial_indent="  ", subsequent_indent="         ") for cause in causes]
    missing = [f"  not captured: {note}" for note in notes]
    return "\n".join([head, *lines[1:], *wrapped, *missing, f"  {command}"])


class _Compiler:
    """The session shared by all items of a process, created on first use and closed at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @cached_property
    def _session(self) -> Session:
        session = Session(Options(suggest=False))
        self._config.add_cleanup(session.close)
        return session

    @cached_property
    def folder(self) -> Path:
        """Folder for kernel sources."""
        work = scratch.new("matrix")
        self._config.add_cleanup(work.remove)
        return work.folder

    def check(self, case: Case, combination: Combination) -> Report:
        """Raises InputError and EnvironmentFault."""
        self._session.options = replace(self._session.options, limits=combination.limits)
        return self._session.check(combination.case(case))

    def keep(self, case: Case) -> Path:
        """Copy a failed case to its permanent folder."""
        (case.folder / "case.json").write_text(json.dumps(case.to_json(), indent=1) + "\n", encoding="utf-8")
        target = case_folder(self._config) / case.folder.name
        shutil.rmtree(target, ignore_errors=True)
        return Path(shutil.copytree(case.folder, target))


def fixture(request: pytest.FixtureRequest) -> CompileMatrix:
    """The fixture's value for one item."""
    compiler = request.config.stash.setdefault(_SESSION, _Compiler(request.config))
    return CompileMatrix(request.param, compiler, [request.path.parent, request.config.rootpath])


def parametrize(metafunc: pytest.Metafunc) -> None:
    """One item for each combination of the marker. An invalid marker is a collection error."""
    marker = metafunc.definition.get_closest_marker("compile_matrix")
    try:
        combinations = _combinations(marker)
    except InputError as error:
        pytest.fail(f"{metafunc.definition.nodeid}: {error}", pytrace=False)
    warned = metafunc.config.stash.setdefault(_WARNED, set())
    for combination in combinations:
        caveat = combination.target.caveat
        if caveat is not None and caveat not in warned:
            warned.add(caveat)
            metafunc.config.issue_config_time_warning(pytest.PytestWarning(f"triage: {caveat}"), stacklevel=2)
    metafunc.parametrize("compile_matrix", combinations, ids=str, indirect=True)


def _combinations(marker: pytest.Mark | None) -> list[Combination]:
    if marker is None:
        raise InputError(f"the fixture compile_matrix needs its marker, as in {_USAGE}")
    values = {**dict(zip(("targets", "triton"), marker.args, strict=False)), **marker.kwargs}
    if unknown := sorted(set(values) - _NAMES):
        raise InputError(f"compile_matrix: {unknown[0]}: unknown; known are {', '.join(sorted(_NAMES))}")
    undecided = values.get("undecided", "skip")
    if undecided not in ("skip", "fail"):
        raise InputError(f"compile_matrix: undecided={undecided!r}: write 'skip' or 'fail'")
    targets = [Target.parse(text) for text in _texts("targets", values.get("targets"))]
    limits = _limits(values.get("timeout", DEFAULT_TIMEOUT_S), values.get("memory"))
    stated = [compiler for compiler in COMPILERS.values() if values.get(compiler.name) is not None]
    if len(stated) > 1:
        raise InputError("compile_matrix: a kernel is compiled by triton=… or by cute=…, not by both")
    compiler = stated[0] if stated else TRITON
    releases = _releases(values.get(compiler.name), compiler)
    pairs = product(targets, releases)
    return list(dict.fromkeys(Combination(target, compiler, release, limits, undecided) for target, release in pairs))


def _texts(name: str, value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else list(value or ())
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"compile_matrix: {name}: expected one or more texts, found {value!r}; as in {_USAGE}")
    return texts


def _releases(value: Any, compiler: Compiler) -> list[str | None]:
    if value is None:
        return [None]
    texts = _texts(compiler.name, value)
    are_asked = INSTALLED in ",".join(texts)
    installed = [toolchain.release for toolchain in Toolchains().installed(compiler)] if are_asked else []
    return list(select(texts, installed, compiler).chosen)


def _limits(timeout: Any, memory: Any) -> Limits:
    if not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise InputError(f"compile_matrix: timeout={timeout!r}: write a number of seconds, more than 0")
    return Limits(float(timeout), parse_size(memory) if memory else default_memory_bytes())
