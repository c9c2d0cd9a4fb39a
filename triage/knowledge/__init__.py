"""The knowledge base: what is known of each failure, as data that can be re-run.

``entry`` is the schema, ``load`` reads and validates the TOML files, ``matching`` finds what a diagnosis is.
"""

from triage.knowledge.entry import Entry
from triage.knowledge.load import load_all, problems
from triage.knowledge.matching import match

__all__ = ["Entry", "load_all", "match", "problems"]
