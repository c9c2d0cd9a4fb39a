"""ptxas refused the PTX, or died over it.

Its first ``error`` line is the cause; ``Ptx assembly aborted due to errors`` and Triton's own
```ptxas` failed with error code 255`` only follow from it.
"""

from __future__ import annotations

import re

from triage.diagnosis import Diagnosis, Kind
from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window

_STATED = re.compile(
    r"^(?:`?ptxas(?:-blackwell)?`?\s{1,8})?(?:stderr:\s{0,8})?(?:.{0,1000}?, line \d{1,9}; {0,4})?"
    r"(?:ptxas(?:-blackwell)? )?(?P<severity>error|fatal) {1,8}: (?P<text>\S.{0,4000})"
)
_FAILED = re.compile(r"`?ptxas`? (?:failed with error code|died with|was killed) ?(?P<code>-?\d{0,12})")
_CALLED = re.compile(r"Command '\[?'?[^']{0,1000}ptxas.{0,4000}returned non-zero exit status (?P<code>-?\d{1,12})")
_DIED = re.compile(r"Command '\[?'?[^']{0,1000}ptxas.{0,4000}died with <?(?P<signal>Signals\.SIG\w{1,16}|SIG\w{1,16})")
_FEATURE = re.compile(r"^Feature '[^']{1,200}' requires (?:\.target|PTX ISA)")
_GENERIC = ("Ptx assembly aborted", "Memory allocation failure")


def stated(line: str) -> str | None:
    """ptxas's own words in the line."""
    match = _STATED.match(line.strip())
    return match["text"].strip() if match else None


def _diagnosis(shown: str, message: str) -> Diagnosis:
    return Diagnosis(
        kind=Kind.PTXAS, headline=text.headline(f"ptxas: {shown}"), message=text.message(message), stage="cubin"
    )


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if words := stated(line):
        specificity = Specificity.TAIL if words.startswith(_GENERIC) else Specificity.DIAGNOSTIC
        return Finding(_diagnosis(words, line), specificity, window.position)
    if _FEATURE.match(line):
        return Finding(_diagnosis(line, line), Specificity.DIAGNOSTIC, window.position)
    if failed := (_FAILED.search(line) or _CALLED.search(line)):
        # Triton's own line: a negative code is the signal that ended ptxas, which then said nothing itself.
        died = failed["code"].startswith("-")
        ended = f"ended by signal {failed['code'][1:]}" if died else f"failed with exit code {failed['code']}"
        specificity = Specificity.SYMPTOM if died else Specificity.TAIL
        return Finding(_diagnosis(ended, line), specificity, window.position)
    if died_with := _DIED.search(line):
        return Finding(_diagnosis(f"ended by {died_with['signal']}", line), Specificity.SYMPTOM, window.position)
    return None


RECOGNISER = Recogniser("ptxas", ("ptxas", "error   : ", "fatal   : ", "Feature '"), _read)
