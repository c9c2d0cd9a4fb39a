"""The line of a text that states a failure, and the kind of failure, where no recogniser reads one: learnt, not listed.

People write about a failure in as many ways as there are people; most often the title of an issue says it. `features`
describes a line, `weights` ranks the lines of a text and names the kind, `learning` learns the weights from texts with
expectations and measures them on texts that it did not learn from.
"""

from triage.logs.statement.reading import stated, tells

__all__ = ["stated", "tells"]
