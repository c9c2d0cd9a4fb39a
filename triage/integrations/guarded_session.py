"""A guarded test session: each process that runs tests tries compiles in isolation first.

The process that the user started sets the case folder and the service in environment variables that its workers
inherit; all of them share one service."""

import atexit
import os
import threading
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from triage.capture import live, refusals
from triage.capture.awaited import AwaitedCompilers
from triage.capture.program.service import VARIABLE as SERVICE
from triage.capture.service.start import DEFAULT_TIMEOUT_S, Settings, shared_service
from triage.integrations import folders
from triage.integrations.summary import Summary
from triage.model.errors import EnvironmentFault

_OUTER = "TRITON_TRIAGE_CAPTURE"
"""Case folder of an enclosing ``triage run``."""
_CASES = "TRITON_TRIAGE_TESTS"
"""Case folder for the workers of a pytest session."""


def begin(config: pytest.Config, timeout_s: float | None) -> None:
    """Guard the session of this process. ``timeout_s``: seconds a compile may take; None for the default. Raises
    UsageError."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker or _CASES not in os.environ:  # on another machine a worker inherits nothing
        try:
            folder, nested = _set_up(config, timeout_s or DEFAULT_TIMEOUT_S)
        except EnvironmentFault as error:
            raise pytest.UsageError(str(error)) from None
        if not is_worker:
            config.pluginmanager.register(Summary(config, folder, nested), "triage-summary")
    if config.getoption("dist", "no") == "no":
        guarded = GuardedProcess(config, Path(os.environ[_CASES]))
        config.add_cleanup(guarded.end)
        config.pluginmanager.register(guarded, "triage-guarded")


def _set_up(config: pytest.Config, timeout_s: float) -> tuple[Path, bool]:
    """Set the session's environment until its end. Returns the case folder, and whether an enclosing ``triage run`` has
    set it. Raises UsageError and EnvironmentFault."""
    outer = os.environ.get(_OUTER, "")
    configured = folders.configured_folder(config)
    nested = bool(outer) and configured is None
    folder = Path(outer) if nested else configured or folders.default_folder(config)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"--triage-dir {folder}: cannot be created: {error.strerror}") from None
    if not nested and configured is None:
        folders.forget(folder)
    environment = pytest.MonkeyPatch()
    config.add_cleanup(environment.undo)
    environment.setenv(_CASES, str(folder.absolute()))
    if SERVICE not in os.environ:
        services = ExitStack()
        config.add_cleanup(services.close)
        environment.setenv(SERVICE, services.enter_context(shared_service(Settings(timeout_s=timeout_s))))
    return folder, nested


class GuardedProcess:
    """Hooks of a process that runs tests."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config, self._folder = config, folder
        self._refusals = refusals.Refusals()
        self._followed = 0
        self._awaited = AwaitedCompilers(self._follow, live.program("folder").note)

    def end(self) -> None:
        self._awaited.stop()
        for _ in range(self._followed):
            live.program("guard").stop()

    def _follow(self, module: ModuleType) -> None:
        live.begin(module, Settings(), self._folder)
        # With TRITON_TRIAGE_GUARD=1 each process would repeat the session's summary at its end.
        atexit.unregister(live.say_at_exit)
        self._followed += 1
        self._refusals.new()  # forget those of an earlier session in this process

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fail the test if a refusal ends one of its threads unnoticed."""
        refused: list[BaseException] = []
        before = threading.excepthook

        def excepthook(args: Any) -> None:
            if args.exc_value is not None and refusals.is_refusal(args.exc_value):
                refused.append(args.exc_value)
            else:
                before(args)

        threading.excepthook = excepthook
        try:
            result = yield
        finally:
            if threading.excepthook is excepthook:
                threading.excepthook = before
        if refused:
            raise refused[0]
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add refusals of the test, with their cases, to its report."""
        met = self._refusals.new()
        errors = refusals.in_chain(call.excinfo.value if call.excinfo else None)
        with refusals.shortened(errors, traces=not self._config.getoption("fulltrace", False)):
            report = yield
        if report.failed:
            met += refusals.raised_since(self._folder, call.start)
        text = _attach(report, errors, met)
        if text:
            # A section is not in the XML of --junitxml; a property is, if the report of the last phase has it.
            item.user_properties.append(("triage", text))
            report.user_properties.append(("triage", text))
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """The same for a module that compiles kernels when imported."""
        report = yield
        _attach(report, [], self._refusals.new())
        return report


def _attach(report: Any, errors: list[Any], met: list[refusals.FailedCompile]) -> str:
    """Attach failures for the process that prints the summary. Returns the section added to a failed report."""
    text = refusals.section(errors, met, report.longreprtext) if report.failed else ""
    if text:
        report.sections.append(("triage", text))
    if met:
        report.triage = [
            {"headline": failure.headline, "path": failure.path, "refused": failure.refused} for failure in met
        ]
    return text
