"""A document as one HTML file that needs nothing else: no network, no script.

It is built as a tree with the standard library, which escapes when it writes: no text can become markup, and a template
language would be one more dependency for a page with no logic. The policy in its head forbids a browser everything but
the style that is in it, whatever a text might smuggle in all the same.
"""

from __future__ import annotations

from triage.publish.formats.html.page import render

__all__ = ["render"]
