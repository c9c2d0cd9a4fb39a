"""Text or outcome -> :class:`~triage.model.diagnosis.Diagnosis`: one small recogniser per kind of failure, one pass.

Order of things: `reading` makes blocks of whole lines of any source, `sieve` finds those with an anchor,
`excerpts` gives them with their neighbours, `clean` takes wrappings off lines, `window` shows each with what stands
around it, `recognisers` read them, `chains` joins Python's exceptions, `context` adds pass and stage, `dump` the
operation that was being lowered, `episodes` tells causes from consequences; `scan` is that one pass. `outcomes` adds
what the harness knows; `signature` names the bug.
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.outcomes import diagnose_outcome, printed_error
from triage.logs.reading import Log
from triage.logs.scan import ANCHORS, diagnose_text, findings
from triage.logs.signature import explain, signature_of

__all__ = [
    "ANCHORS",
    "Finding",
    "Log",
    "Specificity",
    "diagnose_outcome",
    "diagnose_text",
    "explain",
    "findings",
    "printed_error",
    "signature_of",
]
