"""What the compiler was given when it failed, what it printed, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from triage.ir.operations import failing
from triage.publish.compose.words import codes, listing
from triage.publish.document import Block, Code, Listing, Paragraph, Section, Weight
from triage.publish.fields import Fields
from triage.publish.finished import MINIMIZED, REPORT, Finished, Minimized

_OTHERS = (
    ("ir", "IR before the failing pass, of the original", "x.mlir"),
    ("reproducer", "MLIR reproducer that the compiler wrote, of the original", "x.mlir"),
    ("ttgir", "TTGIR of the original", "x.ttgir"),
    ("ttir", "TTIR of the original", "x.ttir"),
    ("python_stack", "Python stack at the end", "x.txt"),
)


def ir(found: Finished) -> Section | None:
    """The failing pass's input: reduced where there is that, and the original's."""
    blocks: list[Block] = []
    if found.minimized is not None:
        blocks += _reduced(found, found.minimized)
    reduced = bool(blocks)
    shown = False
    for name, title, file in _OTHERS[:4]:
        excerpt = found.texts.get(name)
        # The stage's whole input says less than the pass's, and of two modules the later one says it.
        if excerpt is None or (shown and name != "reproducer"):
            continue
        weight = Weight.CONTEXT if reduced or shown else Weight.IR
        blocks.append(_marked(found, listing(title, excerpt, file, weight)))
        shown = True
    return Section("ir", "IR before the failing pass", tuple(blocks)) if blocks else None


def _reduced(found: Finished, minimized: Minimized) -> Iterator[Block]:
    result = Fields(minimized.document, MINIMIZED).inside("ir")
    if minimized.ir is None or not result:
        return
    inside, stage = result.maybe("pass") or result.maybe("adder"), result.text("stage")
    before, after = result.inside("before").whole("operations"), result.inside("after").whole("operations")
    where = f"pass {inside}" if inside else f"stage {stage}"
    yield Paragraph(
        (f"What {where} was given, reduced from {before} to {after} operations while it fails the same way:",)
    )
    yield _marked(found, listing(minimized.ir_name, minimized.ir, minimized.ir_name, Weight.IR))
    runs = result.plain().get("reproduced")
    seen = f", and was run twice in fresh processes: exit codes {codes(runs)}" if isinstance(runs, list) else ""
    yield Paragraph(
        ("The same with the compiler's own tools (not run here): ", Code(result.maybe("command") or "")), Weight.IR
    )
    if minimized.rerun is not None:
        yield Paragraph((Code("rerun.py"), f" beside it does that with Triton alone{seen}."), Weight.IR)
        yield listing("rerun.py", minimized.rerun, "rerun.py", Weight.IR)


def _marked(found: Finished, module: Listing) -> Listing:
    diagnosis = Fields(found.report, REPORT).inside("diagnosis")
    if not diagnosis:
        return module
    source = diagnosis.inside("source")
    line = source.whole("line") if source else None
    place = (source.text("file").rpartition("/")[2], line) if line is not None else None
    named = failing(module.text, diagnosis.text("message"), diagnosis.maybe("function"), place)
    return replace(module, marked=named.lines, why=named.why)


def log(found: Finished) -> Section | None:
    """All that was printed, and where Python was."""
    blocks: list[Block] = []
    if (excerpt := found.texts.get("log")) is not None and (excerpt.head or excerpt.tail):
        blocks.append(listing("Everything that the compiler printed", excerpt, "log.txt", Weight.LOG))
    name, title, file = _OTHERS[-1]
    if (excerpt := found.texts.get(name)) is not None:
        blocks.append(listing(title, excerpt, file, Weight.STACK))
    return Section("log", "Full log", tuple(blocks)) if blocks else None


def reproduce(found: Finished) -> Section | None:
    """With pip and Python alone where there is a reproducer; with triage where it was run so."""
    report = Fields(found.report, REPORT)
    environment = report.inside("environment")
    blocks: list[Block] = []
    if found.minimized is not None and (release := environment.maybe("triton")):
        blocks += _with_pip(found.minimized, release, environment)
    if found.minimized is None and found.kernel is not None:
        name = report.inside("case").inside("kernel").maybe("file") or "kernel.py"
        together = ", ".join([name, *found.beside, "case.json"])
        blocks.append(Paragraph(("With triage: ", Code(together), " in a folder, and ", Code("triage check FOLDER"))))
    elif found.again:
        blocks.append(Paragraph(("With triage: ", Code(found.again))))
    return Section("reproduce", "How to reproduce", tuple(blocks)) if blocks else None


def _with_pip(minimized: Minimized, release: str, environment: Fields) -> Iterator[Block]:
    python = ".".join((environment.maybe("python") or "3").split(".")[:2])
    name = minimized.script_name
    if "+" in release:
        yield Paragraph(
            (f"Triton {release} is a build of its own, which pip does not have; with it: ", Code(f"python {name}"))
        )
    else:
        steps = [f"python{python} -m venv venv", f"venv/bin/pip install triton=={release}", f"venv/bin/python {name}"]
        yield Listing("With plain pip and Python", "\n".join(steps), "sh", folded=False, weight=Weight.ESSENTIAL)
    document = Fields(minimized.document, MINIMIZED)
    runs = document.plain().get("reproduced")
    if isinstance(runs, list):
        on = f"Triton {release}, Python {environment.maybe('python')}, {environment.maybe('platform')}"
        yield Paragraph(
            ("Triage ran ", Code(name), f" twice, with {on}: exit codes {codes(runs)} (1: the failure is there)."),
        )
