"""Facts of the documents in words, and excerpts as listings: what several parts of a report need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.publish.document import Listing, Weight
from triage.publish.fields import Fields
from triage.publish.finished import Excerpt
from triage.publish.visible import clipped

_LANGUAGES = {".py": "python", ".mlir": "mlir", ".ttir": "mlir", ".ttgir": "mlir", ".ll": "llvm", ".md": "", ".txt": ""}


def settings(values: Mapping[str, Any]) -> str:
    """``NAME=VALUE …``."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def kernel_name(case: Fields) -> str:
    """The kernel's name."""
    return case.inside("kernel").maybe("name") or "kernel"


def ending(outcome: Fields) -> str:
    """How the compile ended, as the subject of a sentence."""
    signal, code = outcome.maybe("signal"), outcome.whole("exit_code")
    match outcome.maybe("status"):
        case "crash" if signal:
            return f"the compiler died of {signal}"
        case "crash":
            return f"the compiler called exit({code})"
        case "suspect":
            return "the compile returned normally, but an error was printed (do not trust its binary)"
        case "timeout":
            return "the compile did not end within its time"
        case "out-of-memory":
            return "the compile ran out of memory"
        case "ok":
            return "it compiles"
    return "the compile ended in an error"


def joined(excerpt: Excerpt) -> str:
    """An excerpt as one text, which says what of it is not there."""
    if not excerpt.tail:
        return clipped(excerpt.head)
    missing = f"\n\u2026 the middle of {excerpt.size} bytes is left out \u2026\n"
    return clipped(excerpt.head) + missing + clipped(excerpt.tail)


def listing(title: str, excerpt: Excerpt, file: str, weight: Weight, folded: bool = True) -> Listing:
    """An excerpt of a file as a listing, in the language that its name says."""
    ending = file[file.rfind(".") :] if "." in file else ""
    return Listing(title, joined(excerpt).strip("\n"), _LANGUAGES.get(ending, ""), folded, weight=weight)


def codes(values: list[Any]) -> str:
    """Exit codes of two runs: ``1 and 1``."""
    return " and ".join(str(value) for value in values)
