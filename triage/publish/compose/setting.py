"""Configuration and environment."""

from __future__ import annotations

from triage.model.outcome import Stage
from triage.model.report import Report
from triage.publish.document import Block, Code, Paragraph, ReportCell, ReportTable, Section
from triage.publish.finished import Finished
from triage.publish.words import settings


def environment(finished: Finished) -> Section | None:
    """Configuration and environment, in a table."""
    report, case = finished.report, finished.case
    if case is None:
        return None
    names = {"triton": "Triton", "python": "Python", "ptxas": "ptxas", "platform": "Platform", "triage": "triage"}
    known = report.environment if report else {}
    rows = [(names.get(name, name), value) for name, value in known.items() if name != "target"]
    rows.insert(1, ("Target", str(case.target)))
    if report:
        rows.insert(2, ("GPU", _gpu(report)))
    rows += [
        ("Kernel", f"{case.name} ({case.language.value})"),
        ("Arguments", ", ".join(f"{name}: {type_}" for name, type_ in case.signature.items())),
        ("Divisible by 16", ", ".join(name for name, value in case.divisible.items() if value == 16)),
        ("Constexprs", settings(case.constexprs)),
        ("Options", settings(case.options)),
    ]
    cells = tuple(
        (ReportCell((name,)), ReportCell((value if name == "GPU" else Code(value),))) for name, value in rows if value
    )
    blocks: list[Block] = [ReportTable("Configuration and environment", ("", ""), cells)]
    if finished.reduction is not None:
        note = "Kernel, arguments, constexprs and options are those it was met with; the reduced kernel's are in "
        blocks.append(Paragraph((note, Code(finished.reduction.script_name), ".")))
    return Section("environment", "Environment details", tuple(blocks))


def _gpu(report: Report) -> str:
    if devices := {suggestion.measured.device for suggestion in report.suggestions if suggestion.measured}:
        return ", ".join(sorted(devices))
    launched = report.outcome.stage is Stage.LAUNCH
    return "used for the launch that failed" if launched else "none is needed: it was compiled, not launched"
