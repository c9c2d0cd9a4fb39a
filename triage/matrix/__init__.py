"""One case over many Triton releases: which rows there are, what each cell says, and where it changes.

``releases`` reads what was asked for, ``cell`` and ``table`` hold what was observed, ``history`` reads a column from
the oldest release to the newest, ``bisection`` decides what to compile next; all of them are pure. ``supply`` and
``runner`` do the work.
"""
