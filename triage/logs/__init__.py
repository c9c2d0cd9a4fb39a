"""From text or outcome to :class:`~triage.model.diagnosis.Diagnosis`: one small recogniser per kind of failure.

`scan` is one pass over a log. In its order: `reading` splits any source into blocks of whole lines, `sieve` finds those
with an anchor, `excerpts` yields them with their neighbours, `clean` removes wrappings, `window` bounds the view, the
`recognisers` parse each line, `evidence` and `other_programs` decide whose a failure is, `chains` joins exceptions,
`context` adds stage, passes and the frames of `user_frames`, `dump` the operation that was being lowered, `episodes`
ranks causes and consequences. `quoted`, `described` and `statement` read what people write about a failure, `repeated`
what they write twice; `places` chooses where it happened, of what `named_places` and `named_pass` find in words as
well; `ending` names what else failed. `signature` identifies the bug.
`outcomes` diagnoses what the harness saw, and adds its facts; it is imported by name, since a log needs nothing of it.
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.reading import Log
from triage.logs.scan import ANCHORS, diagnose_any, diagnose_text, failures, findings
from triage.logs.signature import explain, signature_of

__all__ = [
    "ANCHORS",
    "Finding",
    "Log",
    "Specificity",
    "diagnose_any",
    "diagnose_text",
    "explain",
    "failures",
    "findings",
    "signature_of",
]
