"""Configuration and environment, the compiler's input when it failed, its output, and how to reproduce the failure."""

from collections.abc import Iterator
from dataclasses import replace

from triage.ir.operations import failing
from triage.model.compilers import COMPILERS
from triage.model.outcome import Stage
from triage.model.report import Report
from triage.publish.compose.excerpts import listing
from triage.publish.document import Block, Code, Listing, Paragraph, ReportCell, ReportTable, Section, Weight
from triage.publish.finished import FinishedTriage, Reduction
from triage.publish.words import exit_codes, settings

_OTHERS = (
    ("ir", "IR before the failing pass, of the original", "x.mlir"),
    ("reproducer", "MLIR reproducer that the compiler wrote, of the original", "x.mlir"),
    ("ttgir", "TTGIR of the original", "x.ttgir"),
    ("ttir", "TTIR of the original", "x.ttir"),
    ("python_stack", "Python stack at the end", "x.txt"),
)


def environment(finished: FinishedTriage) -> Section | None:
    """Configuration and environment, in a table."""
    report, case = finished.report, finished.case
    if case is None:
        return None
    names = {"python": "Python", "platform": "Platform", **{each.name: each.title for each in COMPILERS.values()}}
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


def ir(finished: FinishedTriage) -> Section | None:
    """The input of the failing pass: the reduced one, if there is one, and the original."""
    blocks: list[Block] = []
    if finished.reduction is not None:
        blocks += _reduced(finished, finished.reduction)
    reduced = bool(blocks)
    shown = False
    for name, title, file in _OTHERS[:4]:
        excerpt = finished.texts.get(name)
        # A pass's input shows more than its stage's; of two stages' inputs the later one shows more.
        if excerpt is None or (shown and name != "reproducer"):
            continue
        weight = Weight.CONTEXT if reduced or shown else Weight.IR
        blocks.append(_marked(finished, listing(title, excerpt, file, weight)))
        shown = True
    return Section("ir", "IR before the failing pass", tuple(blocks)) if blocks else None


def _reduced(finished: FinishedTriage, reduction: Reduction) -> Iterator[Block]:
    result = reduction.result.ir
    if reduction.ir is None or result is None:
        return
    inside = result.pass_name or result.adder
    where = f"pass {inside}" if inside else f"stage {result.stage}"
    before, after = result.before.operations, result.after.operations
    yield Paragraph(
        (f"What {where} was given, reduced from {before} to {after} operations while it fails the same way:",)
    )
    yield _marked(finished, listing(reduction.ir_name, reduction.ir, reduction.ir_name, Weight.IR))
    yield Paragraph(("The same with the compiler's own tools (not run here): ", Code(result.command)), Weight.IR)
    if reduction.rerun is not None:
        codes = result.reproduced
        runs = f", and was run twice in fresh processes: exit codes {exit_codes(codes)}" if codes else ""
        yield Paragraph((Code("rerun.py"), f" beside it does that with Triton alone{runs}."), Weight.IR)
        yield listing("rerun.py", reduction.rerun, "rerun.py", Weight.IR)


def _marked(finished: FinishedTriage, module: Listing) -> Listing:
    diagnosis = finished.report and finished.report.diagnosis
    if not diagnosis:
        return module
    source = diagnosis.source
    line = (source.file.rpartition("/")[2], source.line) if source else None
    named = failing(module.text, diagnosis.message, diagnosis.function, line)
    return replace(module, marked=named.lines, why=named.why)


def log(finished: FinishedTriage) -> Section | None:
    """The whole log, and the Python stack at the end."""
    blocks: list[Block] = []
    if (excerpt := finished.texts.get("log")) is not None and (excerpt.head or excerpt.tail):
        blocks.append(listing("Everything that the compiler printed", excerpt, "log.txt", Weight.LOG))
    name, title, file = _OTHERS[-1]
    if (excerpt := finished.texts.get(name)) is not None:
        blocks.append(listing(title, excerpt, file, Weight.STACK))
    return Section("log", "Full log", tuple(blocks)) if blocks else None


def reproduce(finished: FinishedTriage) -> Section | None:
    """The steps with pip and Python, if there is a reproducer, and the command of triage."""
    report, reduction = finished.report, finished.reduction
    blocks: list[Block] = []
    if report is not None and reduction is not None and (release := report.release):
        blocks += _with_pip(reduction, release, report)
    if report is not None and reduction is None and finished.kernel is not None:
        together = ", ".join([report.case.file, *finished.beside, "case.json"])
        blocks.append(Paragraph(("With triage: ", Code(together), " in a folder, and ", Code("triage check FOLDER"))))
    elif finished.again:
        blocks.append(Paragraph(("With triage: ", Code(finished.again))))
    return Section("reproduce", "How to reproduce", tuple(blocks)) if blocks else None


def _with_pip(reduction: Reduction, release: str, report: Report) -> Iterator[Block]:
    environment, compiler = report.environment, report.case.compiler
    python = ".".join(environment.get("python", "3").split(".")[:2])
    name = reduction.script_name
    if "+" in release:
        yield Paragraph(
            (
                f"{compiler.label(release)} is a build of its own, which pip does not have; with it: ",
                Code(f"python {name}"),
            )
        )
    else:
        steps = [
            f"python{python} -m venv venv",
            f"venv/bin/pip install {compiler.distribution}=={release}",
            f"venv/bin/python {name}",
        ]
        yield Listing("With plain pip and Python", "\n".join(steps), "sh", folded=False, weight=Weight.ESSENTIAL)
    on = f"{compiler.label(release)}, Python {environment.get('python')}, {environment.get('platform')}"
    if (codes := reduction.result.reproduced) is None:
        return
    runs = exit_codes(codes)
    yield Paragraph(("Triage ran ", Code(name), f" twice, with {on}: exit codes {runs} (1: the failure is there)."))
