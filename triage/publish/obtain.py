"""A finished triage for whatever was named: read from a folder, or made now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from triage.minimize import run as minimizing
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.progress import Progress
from triage.pipeline import Options, Session
from triage.publish import finished
from triage.publish.fields import Fields
from triage.publish.finished import Finished


def obtain(
    place: Path | Case, options: Options, progress: Progress | None = None, again: str | None = None
) -> Finished:
    """What a folder holds, checked first where there is only its reduction; a case is checked. ``again`` is the command
    that repeats the check of a case. Raises what ``read`` and a session raise."""
    if isinstance(place, Case):
        return _checked(place, options, progress, again)
    found = finished.read(place)
    reduced = finished.case_of(place)
    if found.report or found.matrix or reduced is None:
        return found
    return _with_check(found, reduced, options, progress)


def anonymous(place: Path | Case, options: Options, progress: Progress | None = None) -> Finished:
    """The same from the anonymous reduction alone: of the original's texts nothing is in it. A case is reduced first.
    Raises InputError where there is none, or where the failure needs the names."""
    if isinstance(place, Case):
        with TemporaryDirectory(prefix="triage-anonymous-") as scratch:
            folder = Path(scratch) / "reduced"
            wanted = minimizing.Options(
                folder=folder,
                triton=options.triton,
                python=options.python,
                limits=options.limits,
                jobs=options.jobs,
                anonymize=True,
            )
            minimizing.minimize(place, wanted, progress)
            return anonymous(folder, options, progress)
    found = finished.read(place)
    reduced = finished.case_of(place)
    if found.minimized is None or reduced is None:
        raise InputError(f"{place}: holds no reduction; triage minimize CASE --anonymize -o DIR makes one")
    if found.minimized.document.get("anonymous") is not True:
        raise InputError(
            f"{found.minimized.folder}: is not anonymous; triage minimize CASE --anonymize -o DIR with a new folder "
            "renames, where the failure does not need the names"
        )
    bare = Finished(minimized=found.minimized, folders=(found.minimized.folder,))
    whole = _with_check(bare, reduced, options, progress)
    return replace(whole, matrix=_nameless(found.matrix, whole), again=None)


def _checked(case: Case, options: Options, progress: Progress | None, again: str | None) -> Finished:
    with Session(options, progress) as session:
        return finished.of_report(session.check(case), again)


def _with_check(found: Finished, case: Case, options: Options, progress: Progress | None) -> Finished:
    checked = _checked(case, options, progress, None)
    # The reduced kernel is shown as such.
    return replace(
        found, report=checked.report, texts=checked.texts, folders=(*found.folders, *checked.folders), again=None
    )


def _nameless(matrix: Mapping[str, Any], whole: Finished) -> dict[str, Any]:
    """The table without what the original's texts may have put into it: the case, and headlines but this failure's."""
    if not matrix:
        return {}
    diagnosis = Fields(whole.report, finished.REPORT).inside("diagnosis")
    headline = diagnosis.maybe("headline") if diagnosis else None
    failures = [
        {**one, "headline": headline if one.get("signature") == whole.signature else "another failure"}
        if one.get("signature") == whole.signature
        else {**one, "headline": "another failure", "signature": "not shown"}
        for one in matrix.get("failures", ())
    ]
    cells = [{**one, "reason": None} for one in matrix.get("cells", ())]
    return {**matrix, "case": whole.report.get("case", {}), "failures": failures, "cells": cells}
