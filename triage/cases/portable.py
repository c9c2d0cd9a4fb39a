"""A case as plain JSON with the contents of its files, for another folder or another machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triage.filesystem.files import replace_file
from triage.frontends import documents
from triage.model.case import Case
from triage.model.errors import InputError, unreadable
from triage.source.imports import imported_files
from triage.source.package_copy import package

DOCUMENT = "case.json"


def case_files(case: Case) -> tuple[Path, dict[str, bytes]] | None:
    """The folder on the import path, and below it the files that a case is compiled from, its own first, with their
    contents; None for a kernel in a package, which needs the whole package. Raises InputError for what cannot be
    read."""
    root, chain = package(case)
    if case.is_ir:
        root = case.location.parent
    elif len(chain) > 1 and not (case.is_sliced and root == case.top):
        return None
    try:
        contents = {case.location: case.read()} | ({} if case.is_ir else imported_files(case))
    except OSError as error:
        raise unreadable(case.path, error) from None
    return root, {path.relative_to(root).as_posix(): content for path, content in contents.items()}


def source_digest(case: Case) -> str:
    """Hash of the kernel's source and of what it imports of the user's own files, wherever they lie."""
    if (portable := case_files(case)) is not None:
        contents = portable[1]
    else:
        top = package(case)[0]
        own = {case.location: case.read(), **imported_files(case)}
        contents = {path.relative_to(top).as_posix(): content for path, content in own.items()}
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(json.dumps([name, len(content)]).encode() + content)
    return digest.hexdigest()


def packed(case: Case) -> dict[str, Any]:
    """The case as JSON. Its files are in it; of a kernel in a package, which needs the whole of that, only where they
    lie and their digest, so that it can be unpacked only where the same files lie in the same folder."""
    portable = case_files(case)
    if portable is None:
        return {"case": case.to_json(), "folder": str(case.folder.absolute()), "digest": source_digest(case)}
    contents = portable[1]
    moved = case.moved(case.folder, next(iter(contents)))
    # Any bytes: a source may name another encoding than UTF-8.
    texts = {name: content.decode("utf-8", "surrogateescape") for name, content in contents.items()}
    return {"case": moved.to_json(), "files": texts}


def unpacked(document: Mapping[str, Any], folder: Path) -> Case:
    """The case of a packed one, its files written to ``folder``. Raises InputError where it is malformed, or where its
    files had to be here and are not."""
    if "files" in document:
        for name, text in document["files"].items():
            replace_file(folder / name, text.encode("utf-8", "surrogateescape"), folder)
        replace_file(folder / DOCUMENT, json.dumps(document["case"], indent=2) + "\n", folder)
        return documents.load(folder)
    where = Path(document["folder"])
    case = documents.checked(document["case"], where, str(where), boundary=Path("/"))
    if source_digest(case) != document["digest"]:
        raise InputError(f"{case.path}: not the file that the sweep began with; give this machine the same file system")
    return case
