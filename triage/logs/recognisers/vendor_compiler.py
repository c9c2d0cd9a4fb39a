"""A back end outside of Triton's repository calls a compiler of its own, which failed.

Such back ends keep the words of Triton's call of ptxas: ```llc` failed with error code -11``.
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_FAILED = regex(r"`(?P<program>(?!ptxas)[\w.+/-]{2,80})` failed with error code (?P<code>-?\d{1,12})")
_SIGNALS = {"-11": Kind.SEGFAULT, "-6": Kind.ABORT}


def _read(window: Window) -> Finding | None:
    failed = _FAILED.search(window.line)
    if failed is None:
        return None
    kind = _SIGNALS.get(failed["code"], Kind.ASSEMBLER)
    headline = f"{failed['program']} of a vendor's back end failed with exit code {failed['code']}"
    return finding(window, kind, headline, specificity=Specificity.SYMPTOM)


RECOGNISER = Recogniser(
    anchors=("` failed with error code",),
    read=_read,
    examples={
        "RuntimeError: `llc` failed with error code -11": Kind.SEGFAULT,
        "RuntimeError: `llc` failed with error code 1": Kind.ASSEMBLER,
    },
    most=Specificity.SYMPTOM,
)
