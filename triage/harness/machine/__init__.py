"""What this machine offers and limits: the facts behind ``triage doctor``.

Looking must always work, above all on a machine where nothing else does. So nothing here raises, a fact that
cannot be found out is None or absent, and everything together ends within seconds (see :mod:`.clock`).
"""
