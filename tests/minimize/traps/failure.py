"""One way to fail, as a few statements that stand in any kernel of its frame, and the text that only it prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """``lines``: statements; ``{v}`` is a name of their own, and what else they read is the frame's. ``says``: a
    regular expression over what the compiler prints. ``mended``: lines that hold the same words and compile.
    ``above``: what the module needs beside the kernel. ``targets``: where it fails, the first by preference; none:
    everywhere. ``options``: of the backend, without which it does not fail. ``at_launch``: it compiles, and is over a
    limit that only a launch would meet."""

    name: str
    lines: str
    says: str
    mended: str | None = None
    above: str = ""
    targets: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    gluon: bool = False
    at_launch: bool = False

    @property
    def value(self) -> str | None:
        """The one expression that fails, where that is all there is."""
        head, found, rest = self.lines.partition("{v} = ")
        return rest if found and not head and "\n" not in rest else None


def failures(*found: Failure) -> dict[str, Failure]:
    """By name."""
    return {one.name: one for one in found}
