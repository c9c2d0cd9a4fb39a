"""Renders a finished triage in each format."""

import json
from enum import Enum
from typing import Any

from triage.matrix.table import TableDocument
from triage.minimize.result import MinimizeResult
from triage.model import schema as schemas
from triage.model.report import Report
from triage.publish.compose.whole import cleaned, compose, shared
from triage.publish.finished import FinishedTriage
from triage.publish.formats import html, markdown, text
from triage.publish.privacy import Scrubber


class Format(str, Enum):
    """Formats of a report."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"
    TEXT = "text"


_ABOUT = {
    "$id": "urn:triton-triage:report:1",
    "title": "triton-triage report",
    "description": "What triton-triage found out about one kernel in one configuration. Further fields may be added to "
    "any object; none is renamed or dropped within this version.",
}


def render(finished: FinishedTriage, format_: Format, scrubber: Scrubber | None) -> str:
    """The report. ``scrubber`` None: for the user alone."""
    match format_:
        case Format.MARKDOWN:
            return markdown.render(compose(finished, scrubber))
        case Format.HTML:
            return html.render(compose(finished, scrubber))
        case Format.TEXT:
            return text.render(compose(finished, scrubber))
        case Format.JSON:
            return json.dumps(document(finished, scrubber), indent=2) + "\n"


def document(finished: FinishedTriage, scrubber: Scrubber | None) -> dict[str, Any]:
    """The report document, with the documents of the reduction and the matrix, if there are any."""
    finished = cleaned(finished, scrubber)
    report = finished.report and (shared(finished.report) if scrubber else finished.report)
    whole = report.to_json() if report else {}
    if finished.reduction is not None:
        whole["minimized"] = finished.reduction.result.to_json()
    if finished.matrix is not None:
        whole["matrix"] = finished.matrix.to_json()
    return whole


def schema() -> str:
    """The JSON Schema (draft 2020-12) of the report document, as text."""
    added = {"minimized": MinimizeResult, "matrix": TableDocument}
    return json.dumps(schemas.schema(Report, added, **_ABOUT), indent=2) + "\n"
