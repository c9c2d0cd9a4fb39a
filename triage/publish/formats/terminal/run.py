"""The end of ``triage run`` on standard error: few lines, and reports like those of ``check``."""

import shlex

from rich.console import Console

from triage.capture.captured import Capture, Captured, CaptureState
from triage.capture.findings import CaptureGroup, Findings
from triage.capture.run import ProgramRun
from triage.model.visible import one_line, shortened
from triage.model.words import count
from triage.publish.formats.terminal import report as render
from triage.publish.formats.terminal.console import line

_WIDTH = 300
_ENDED = {
    CaptureState.DIED: "its process died compiling it",
    CaptureState.HUNG: "its compile did not end in its time",
    CaptureState.RUNNING: "its compile had not ended when the program did",
}


def ended(console: Console, ran: ProgramRun, command: tuple[str, ...]) -> None:
    """One line: how the program ended."""
    _say(console, f"triage: {ran.ending(command)}")


def findings(console: Console, results: Findings) -> None:
    """The reports of the first groups, and a line for each other."""
    for finding in results.groups:
        if finding.whole and finding.report is not None:
            console.print()
            _say(console, f"triage: {_captured(finding)}", bold=True)
            render.report(console, finding.report, _again(finding.first))
    rest = [finding for finding in results.groups if not finding.whole]
    if rest:
        console.print()
    for finding in rest:
        _say(console, f"triage: {_result(finding)}")
        _say(console, f"  {_again(finding.first)}")
    if results.left_out:
        _say(console, f"triage: {results.left_out} more captured failures were not compiled alone")


def summary(console: Console, ran: ProgramRun, results: Findings) -> None:
    """The last line: how many kernels were compiled, and what was passed over."""
    if results.groups or results.skipped:
        console.print()
    _guarded(console, ran.capture)
    passed_over = [capture for capture in results.skipped if not capture.refused]
    if passed_over:
        kernels = ", ".join(sorted({capture.kernel for capture in passed_over}))
        first = passed_over[0]
        _say(
            console,
            f"triage: the autotuner passed over {count(len(passed_over), 'configuration')} of {kernels}, first "
            f"{shortened(first.error, 120)}: {first.folder}",
        )
    if ran.capture.helion:
        reports = count(len(ran.capture.helion), "configuration")
        where = ran.capture.helion[0].parent
        _say(console, f"triage: Helion reported {reports} that it passed over: {where} (triage check takes it)")
    _say(console, f"triage: {ran.capture.summary(results.cut_short)}")


def _guarded(console: Console, capture: Capture) -> None:
    """Compiles that the guard kept from ending the program, with their errors, and the time saved."""
    refused = [compiled for compiled in capture.compiles if compiled.refused]
    if refused:
        again = f"; {count(capture.again, 'compile')} not repeated ({capture.saved_s:.1f} s)" if capture.again else ""
        _say(console, f"triage: the guard kept {count(len(refused), 'configuration')} from ending the program{again}")
    for compiled in refused:
        text = compiled.error.partition("triage: ")[2].partition("\n  case:")[0]
        _say(console, f"  {shortened(text, _WIDTH)}: {_again(compiled)}")
    for text in capture.lost():
        _say(console, f"triage: {text}")


def _captured(finding: CaptureGroup) -> str:
    first = finding.first
    others = len(finding.captured) - 1
    more = f", and {others} more that fail alike" if others else ""
    caller = f", called from {first.origin['called_from']}" if first.origin.get("called_from") else ""
    return f"{first.kernel}{caller}: {_how(first)}{more}"


def _result(finding: CaptureGroup) -> str:
    if finding.undecided is not None:
        return f"{_captured(finding)}; could not tell more: {one_line(str(finding.undecided))}"
    if finding.compiles_alone:
        return f"{_captured(finding)}; captured, but compiles alone"
    assert finding.report is not None and finding.report.diagnosis is not None
    return f"{_captured(finding)}; {finding.report.diagnosis.headline}"


def _how(capture: Captured) -> str:
    """How the compile ended in the program; an error in its own words."""
    if capture.state is CaptureState.RAISED:
        action = {"load": "loading it", "launch": "launching it"}.get(capture.where, "compiling it")
        return f"{action} gave the program {shortened(capture.error, _WIDTH)}"
    return _ENDED[capture.state]


def _again(capture: Captured) -> str:
    if capture.case is None:
        return str(capture.folder)
    words = ["triage", "check", str(capture.folder)]
    return shlex.join(words + (["--python", capture.python] if capture.python else []))


def _say(console: Console, text: str, bold: bool = False) -> None:
    line(console, one_line(text), style="bold" if bold else "")
