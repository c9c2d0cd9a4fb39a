"""A sweep's map as one HTML file to look at: every slice of it, without network.

The cells are packed (see ``packed``) and unpacked by the page's own script, the only one that its content security
policy lets run. All else that the page says is in its elements, and can be read without the script.
"""

from triage.publish.formats.html.sweep.page import page

__all__ = ["page"]
