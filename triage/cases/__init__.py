"""Makes a :class:`~triage.model.case.Case` of what a user types or what another tool left on disk."""
