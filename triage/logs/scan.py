"""The one pass over a text: every line is offered to the recognisers, in order, and never looked at again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from triage.diagnosis import Diagnosis, Kind
from triage.logs import signature
from triage.logs.chains import Link, frontend_headline, join_chains, link_at
from triage.logs.clean import clean_lines
from triage.logs.context import Context
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers import RECOGNISERS, silent_pass
from triage.logs.window import Window, windows

#: A text that repeats its failure for ever (a loop over configurations) is known after so many.
MAX_FINDINGS = 500

#: Kinds in which a pass is what failed: a front-end error or a driver's has none.
_IN_A_PASS = frozenset(
    {Kind.ASSERTION, Kind.UNREACHABLE, Kind.LLVM_FATAL, Kind.MLIR_DIAGNOSTIC, Kind.SEGFAULT, Kind.ABORT, Kind.TIMEOUT}
)


def _is_quoted_source(window: Window) -> bool:
    """True for the line of code under a traceback's ``File`` line: it may quote any message, and means none."""
    return window.line.startswith("    ") and bool(window.before) and window.before[-1].startswith("  File ")


def _recognise(window: Window) -> Finding | None:
    if not window.line or _is_quoted_source(window):
        return None
    for recogniser in RECOGNISERS:
        if recogniser.wants(window.line) and (finding := recogniser.read(window)):
            return finding
    return None


def _completed(finding: Finding, context: Context) -> Finding:
    diagnosis = frontend_headline(finding.diagnosis)
    if diagnosis.kind in _IN_A_PASS and diagnosis.pass_name is None:
        diagnosis = replace(diagnosis, pass_name=context.pass_at(finding.position))
    if diagnosis.pass_name is not None:
        diagnosis = replace(diagnosis, pass_name=context.argument_of(diagnosis.pass_name))
    if diagnosis.stage is None:
        diagnosis = replace(diagnosis, stage=context.stage)
    if finding.specificity is Specificity.TAIL and diagnosis.kind is Kind.MLIR_DIAGNOSTIC:
        diagnosis = replace(diagnosis, headline=silent_pass.headline(diagnosis.pass_name))
    return replace(finding, diagnosis=replace(diagnosis, signature=signature.signature_of(diagnosis)))


def read(text: str | Iterable[str]) -> tuple[list[Finding], Context]:
    """All failures in the text, in its order, not yet ranked; and what else it tells."""
    context = Context()
    found: list[Finding] = []
    links: list[Link] = []
    highest = Specificity.TAIL
    last = -1  # the last line that is part of a finding
    for window in windows(clean_lines(text)):
        context.see(window.position, window.line)
        if (link := link_at(window.position, window.line)) and len(links) < MAX_FINDINGS:
            links.append(link)
        elif (
            window.position > last
            and (finding := _recognise(window))
            and (
                # A flood must not hide what is worse than all of it.
                len(found) < MAX_FINDINGS or finding.specificity > highest
            )
        ):
            found.append(finding)
            last = finding.position + finding.extent
            highest = max(highest, finding.specificity)
    return [_completed(finding, context) for finding in join_chains(found, links)], context


def ranked(found: list[Finding]) -> list[Finding]:
    """The findings in their order, each with its rank: most specific first, then first."""
    order = sorted(range(len(found)), key=lambda index: (-found[index].specificity, found[index].position))
    ranks = {index: rank for rank, index in enumerate(order, start=1)}
    return [replace(finding, rank=ranks[index]) for index, finding in enumerate(found)]


def findings(text: str | Iterable[str]) -> list[Finding]:
    """All failures found in the text, in order, each with its rank; rank 1 is the root cause."""
    return ranked(read(text)[0])


def root_cause(found: Iterable[Finding]) -> Finding | None:
    """The finding with rank 1."""
    return next((finding for finding in found if finding.rank == 1), None)


def diagnose_text(text: str | Iterable[str]) -> Diagnosis | None:
    """The root cause of what a text shows; None when it holds no failure."""
    root = root_cause(findings(text))
    return root.diagnosis if root else None
