"""``%load_ext triage``: kernels compiled by cells are tried in isolation first, and a failure is explained below its
cell.

``%unload_ext triage`` stops that."""

from __future__ import annotations

import html
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from triage.capture import live, refusals
from triage.capture.awaited import AwaitedCompilers
from triage.capture.service.start import Settings
from triage.model.visible import visible

_loaded: dict[int, _Cells] = {}
"""By shell."""


def load_ipython_extension(shell: Any) -> None:
    """Guard what this shell compiles from now on; called by IPython."""
    if id(shell) not in _loaded:
        _loaded[id(shell)] = _Cells(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Stop guarding this shell; called by IPython."""
    cells = _loaded.pop(id(shell), None)
    if cells is not None:
        cells.end()


class CellReport:
    """The report below a cell: text in a terminal, HTML in a notebook. ``failed`` is false if the cell continued, as an
    autotuner does."""

    def __init__(self, text: str, failed: bool) -> None:
        self._lines, self._failed = visible(text).splitlines(), failed

    def __repr__(self) -> str:
        return "\n".join([self._head(), *self._lines])

    def _repr_html_(self) -> str:
        colour = "#c62828" if self._failed else "#b26a00"
        lines = [f"<b>{html.escape(self._head())}</b>", *map(html.escape, self._lines)]
        style = f"border-left: 4px solid {colour}; padding: 0.5em 1em; white-space: pre-wrap; margin: 0"
        return f'<pre class="triage" style="{style}">' + "\n".join(lines) + "</pre>"

    def _head(self) -> str:
        return "triage: what failed" if self._failed else "triage: configurations that the guard skipped"


class _Cells:
    """Follows the cells of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._refusals = refusals.Refusals()
        self._began = time.time()
        self._kind: Any = None
        self._followed = 0
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)
        self._awaited = AwaitedCompilers(self._follow, shell.showtraceback)

    def end(self) -> None:
        self._awaited.stop()
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)
        for _ in range(self._followed):
            live.program("guard").stop()
        if self._kind is not None:
            del self._kind._render_traceback_

    def _follow(self, module: ModuleType) -> None:
        live.begin(module, Settings())
        self._followed += 1
        self._refusals.new()  # those from before an %unload_ext have been reported
        # IPython asks an exception for its traceback through this method.
        self._kind = live.compile_failed()
        self._kind._render_traceback_ = lambda error: self._trace(error)  # noqa: PLW0108 - a method would not get it

    def _trace(self, error: Any) -> list[str]:
        """Traceback lines of the cell that launched the kernel, and the failure in one line."""
        traceback = self._shell.InteractiveTB
        with refusals.shortened([error], traces=True):
            lines: list[str] = traceback.structured_traceback(
                type(error), error, error.__traceback__, tb_offset=traceback.tb_offset
            )
        return lines

    def _before(self, info: Any) -> None:
        self._began = time.time()

    def _after(self, result: Any) -> None:
        if self._kind is None:
            return
        failure = result.error_before_exec or result.error_in_exec
        met, errors = self._refusals.new(), refusals.in_chain(failure)
        if failure is not None:
            met += refusals.raised_since(Path(live.program("folder").path()), self._began)
        if not met:
            return
        from IPython.display import display

        shown = errors[0].text.splitlines()[0] if errors else ""
        display(CellReport(refusals.section(errors, met, shown), failure is not None))
