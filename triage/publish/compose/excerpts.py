"""Excerpts of files as listings, for all parts of a report."""

from triage.publish.clipping import clipped
from triage.publish.document import Listing, Weight
from triage.publish.finished import Excerpt

_LANGUAGES = {".py": "python", ".mlir": "mlir", ".ttir": "mlir", ".ttgir": "mlir", ".ll": "llvm", ".md": "", ".txt": ""}


def joined(excerpt: Excerpt) -> str:
    """An excerpt as one text, with a note where its middle is missing."""
    if not excerpt.tail:
        return clipped(excerpt.head)
    missing = f"\n\u2026 the middle of {excerpt.size} bytes is left out \u2026\n"
    return clipped(excerpt.head) + missing + clipped(excerpt.tail)


def listing(title: str, excerpt: Excerpt, file: str, weight: Weight, folded: bool = True) -> Listing:
    """An excerpt of a file as a listing, in the language of the file's ending."""
    ending = file[file.rfind(".") :] if "." in file else ""
    return Listing(title, joined(excerpt).strip("\n"), _LANGUAGES.get(ending, ""), folded, weight=weight)
