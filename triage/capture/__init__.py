"""Capturing kernel compiles: what ``triage run`` and the guard put into a user's program, and reports on what failed
there."""
