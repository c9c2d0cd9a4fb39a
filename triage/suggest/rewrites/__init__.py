"""Rewrite recipes: mechanical changes of a kernel's own source, each applied only where its shape is recognised.

A recipe proposes; nothing is offered that the harness has not compiled. What it changes besides the text (what the
caller must pass, how exact the result is) it says, so that no result changes silently.
"""
