"""A verifier's error quoted without its ``error:``, as issues and wrappers show it: ``'tt.dot' op …``."""

from triage.logs.diagnostic_lines import location_above, location_below
from triage.logs.finding import Finding
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = regex(
    r"^(?:'[a-z]\w{0,60}\.[\w.]{1,100}' op \S|operand #\d{1,4} does not dominate this use"
    r"|operation scheduled before its operands)"
)


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if _STATED.match(line) is None:
        return None
    below = location_below(window, 0)
    return finding(
        window, Kind.MLIR_DIAGNOSTIC, line, locations=location_above(window.before) or ((below,) if below else ())
    )


RECOGNISER = Recogniser(
    anchors=("' op ", "does not dominate", "before its operands"),
    read=_read,
    examples={"'tt.dot' op bad": Kind.MLIR_DIAGNOSTIC, "&#39;tt.dot&#39; op bad": Kind.MLIR_DIAGNOSTIC},
)
