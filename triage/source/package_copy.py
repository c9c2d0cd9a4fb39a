"""A copy of the user's package, made of symbolic links, with one file replaced.

The module must be imported as its own program imports it: siblings, packages and relative imports included. So
every folder from the top of its package down is created, with links to the entries of the original.
"""

import hashlib
from pathlib import Path

from triage.filesystem.files import ANYWHERE
from triage.model.case import Case
from triage.model.errors import EnvironmentFault

_MOST_ENTRIES = 20_000
"""A larger folder is not a package, and linking it would cost more than the compile."""


def rewritten_case(case: Case, text: str, folder: Path) -> Case:
    """The case with another text in its file, in a new folder below ``folder``. Raises EnvironmentFault when it
    cannot be written."""
    root, chain = package(case)
    shadow = folder / hashlib.sha256(f"{case.location}\n{text}".encode()).hexdigest()[:16]
    copy = shadow.joinpath(*chain)
    try:
        if not copy.exists():
            _link(root, shadow, chain)
            copy.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFault(f"{shadow}: cannot be written: {error.strerror}") from None
    return case.moved(copy.parent, copy.name, case.boundary and ANYWHERE)


def package(case: Case) -> tuple[Path, list[str]]:
    """The folder on the import path when the case's file is imported, and the path components below it."""
    root, chain = case.location.parent, [case.location.name]
    while (root / "__init__.py").is_file() and root.parent != root:
        chain.insert(0, root.name)
        root = root.parent
    return root, chain


def _link(real: Path, shadow: Path, chain: list[str]) -> None:
    for step in chain:
        shadow.mkdir(parents=True, exist_ok=True)
        for count, entry in enumerate(sorted(real.iterdir())):
            if count >= _MOST_ENTRIES:
                break
            if entry.name != step and not entry.name.startswith(".") and entry.name != "__pycache__":
                (shadow / entry.name).symlink_to(entry.resolve())
        real, shadow = real / step, shadow / step
