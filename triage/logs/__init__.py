"""Text or outcome -> :class:`~triage.diagnosis.Diagnosis`: one small recogniser per kind of failure, one pass.

Order of things: `clean` takes wrappings off lines, `window` shows each with its neighbours, `recognisers`
read them, `chains` joins Python's exceptions, `context` adds pass and stage, `scan` ranks what was found;
`outcomes` adds what the harness knows; `signature` names the bug.
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.outcomes import diagnose_outcome, printed_error
from triage.logs.scan import diagnose_text, findings
from triage.logs.signature import explain, signature_of

__all__ = [
    "Finding",
    "Specificity",
    "diagnose_outcome",
    "diagnose_text",
    "explain",
    "findings",
    "printed_error",
    "signature_of",
]
