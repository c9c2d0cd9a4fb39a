"""A document as one self-contained HTML file: no network, no script.

It is built as a tree with the standard library, which escapes all text when it writes. A template language would be one
more dependency for a page without logic. As a second line of defence, the content security policy in the head allows
nothing but the page's own style.
"""

from triage.publish.formats.html.page import render

__all__ = ["render"]
