"""The knowledge base: what is known of each failure, as data whose claims can be run again.

``entry`` is the schema, ``load`` reads and validates the TOML files, ``matching`` finds the entries of a diagnosis,
``history`` reads on which releases their reproducers fail, ``verify`` runs the reproducers, ``observed`` records and
compares what they did, ``draft`` writes a new entry.
"""

from triage.knowledge.entry import Entry
from triage.knowledge.load import load_all, problems
from triage.knowledge.matching import match

__all__ = ["Entry", "load_all", "match", "problems"]
