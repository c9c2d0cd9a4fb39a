"""The knowledge base: what is known of each failure, as data whose claims can be run again.

``entry`` is the schema, ``load`` reads and validates the TOML files, ``matching`` finds the entries of a diagnosis,
``history`` reads on which releases their reproducers fail, ``verify`` runs the reproducers, ``observed`` records and
compares what they did, ``draft`` writes a new entry.
"""

from collections.abc import Iterable

from triage.knowledge import matching
from triage.knowledge.entry import Entry
from triage.knowledge.history import with_releases
from triage.knowledge.load import load_all, problems
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.report import Match

__all__ = ["Entry", "load_all", "match", "problems"]


def match(diagnosis: Diagnosis, entries: Iterable[Entry], case: Case | None, release: str | None = None) -> list[Match]:
    """The entries that match a diagnosis, most confident first, each with the releases that it was seen on."""
    return [with_releases(entry_match) for entry_match in matching.match(diagnosis, entries, case, release)]
