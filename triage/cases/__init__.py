"""From what a user types or another tool left to a :class:`~triage.model.case.Case`."""
