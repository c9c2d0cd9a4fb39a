"""Suggestions: neighbours of a failing case, likeliest and cheapest first, and their order once compiled.

Nothing here does I/O or compiles. ``neighbours`` proposes, the harness tries, ``cost.order`` ranks what compiled.
"""
