"""Case documents: read, and checked by the front end of their language before anything is compiled."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.filesystem.files import MOST_DOCUMENT, LeavesFolder, read_file
from triage.frontends.constants import check_constant
from triage.frontends.frontend import frontend
from triage.model import inputs as launch_inputs
from triage.model.case import KERNEL_FILE, SCHEMA, Case, check_source, frozen
from triage.model.document import document_fields
from triage.model.errors import InputError, unreadable

_MOST_NAME = 1000
"""Characters of a name; C++ names of Triton's functions are as long."""
_MOST_NESTING = 32
"""Objects and lists in one another; a case has four, and Python gives up at some hundred."""
_MOST_SHOWN = 300
"""Characters of a field's name or of a value in an error."""


def load(path: Path, boundary: Path | None = None) -> Case:
    """Read a case folder or its ``case.json``. Its files lie in ``boundary``, or else in the folder itself. Raises
    InputError naming the file, the field and the fix."""
    document_path = path / "case.json" if path.is_dir() else path
    try:
        data = read_file(document_path, boundary or document_path.parent, MOST_DOCUMENT)
        text = data.decode(json.detect_encoding(data))
    except FileNotFoundError:
        raise InputError(f"{document_path}: no such file; a case folder holds case.json and the kernel") from None
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{document_path}: cannot be read as text: {problem}") from None

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for name, value in pairs:
            if name in fields:
                raise InputError(f"{document_path}: {name:.{_MOST_SHOWN}}: appears twice; remove one of them")
            fields[name] = value
        return fields

    try:
        document = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{document_path}: not JSON: {error}") from None
    return checked(document, document_path.parent, str(document_path), boundary)


def checked(document: Any, folder: Path, where: str, boundary: Path | None = None) -> Case:
    """The case of a parsed document, ready to compile: unlike :meth:`Case.from_json`, which reads a document of any
    folder, this checks each value, and the kernel in ``folder``. ``where`` names the document in errors. Raises
    InputError."""

    def bad(field_name: str, problem: str) -> InputError:
        return InputError(f"{where}: {field_name:.{_MOST_SHOWN}}: {problem:.{_MOST_SHOWN}}")

    if not isinstance(document, dict):
        raise InputError(f"{where}: expected a JSON object with schema {SCHEMA!r}")
    _check_values(document, bad)
    if document.get("schema") != SCHEMA:
        raise bad("schema", f"expected {SCHEMA!r}, found {document.get('schema')!r}")
    known = {"schema", *(own.path[0] for own in document_fields(Case))}
    if unknown := sorted(set(document) - known):
        raise bad(unknown[0], f"unknown field; known are {', '.join(sorted(known))}")
    if not isinstance(target := document.get("target"), str):
        raise bad("target", f"expected text such as 'cuda:90', found {target!r}")
    case = replace(Case.from_json(document, where), folder=folder, boundary=boundary)
    signature, constexprs = case.signature, case.constexprs
    language = frontend(case.language)
    language.check_target(case.target, lambda problem: bad("target", problem))
    _check_kernel(case, bad)
    for argument, type_ in signature.items():
        language.check_type(type_, lambda problem, argument=argument: bad(f"signature.{argument}", problem))
    for argument, value in case.divisible.items():
        if argument not in signature:
            raise bad(f"divisible.{argument}", "not an argument of the signature")
        language.check_divisor(value, lambda problem, argument=argument: bad(f"divisible.{argument}", problem))
    if both := sorted(set(constexprs) & set(signature)):
        raise bad(f"constexprs.{both[0]}", "also in signature; an argument is one or the other")
    for argument, value in constexprs.items():
        check_constant(value, lambda problem, argument=argument: bad(f"constexprs.{argument}", problem))
    for argument, value in case.construct.items():
        check_constant(value, lambda problem, argument=argument: bad(f"construct.{argument}", problem))
    if case.construct and not language.has_classes:
        raise bad("construct", f"a kernel of {case.language.value} is a function; leave it out")
    language.check_options(case.options, bad)
    if case.is_ir and (values := sorted({*signature, *constexprs})):
        raise bad(values[0], f"{case.file} is IR, which has no named arguments and constexprs any more; leave it out")
    if "inputs" in document:
        launch_inputs.check(case.inputs, signature, constexprs, case.divisibility(), bad)
    mappings: dict[str, Any] = {
        name: frozen(getattr(case, name))
        for name in ("signature", "constexprs", "construct", "divisible", "options", "origin", "inputs")
    }
    return replace(case, **mappings)


def _check_values(document: dict[str, Any], bad: Any) -> None:
    """What any field may hold: JSON that every reader understands, in texts that can be encoded, not nested deeply."""
    level: list[tuple[str, Any]] = [("", document)]
    for _ in range(_MOST_NESTING):
        below: list[tuple[str, Any]] = []
        for path, value in level:
            match value:
                case dict():
                    for name, item in value.items():
                        field_name = f"{path}.{name}" if path else name
                        if len(name) > _MOST_NAME:
                            raise bad(field_name, f"a name of {len(name)} characters; give at most {_MOST_NAME}")
                        _check_text(name, field_name, bad)
                        below.append((field_name, item))
                case list():
                    below += [(path, item) for item in value]
                case str():
                    _check_text(value, path, bad)
                case int() if not -(1 << 63) <= value < 1 << 64:
                    raise bad(path, "does not fit into 64 bits")
                case float() if not math.isfinite(value):
                    raise bad(path, f"{value} is not a number that JSON can hold")
        level = below
    if level:
        raise bad(level[0][0], f"nested deeper than {_MOST_NESTING}; leave it out")


def _check_text(text: str, field_name: str, bad: Any) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise bad(
            field_name.encode(errors="backslashreplace").decode(),
            f"not Unicode: character {error.start} is a surrogate",
        ) from None


def _check_kernel(case: Case, bad: Any) -> None:
    if not case.file:
        raise bad("kernel.file", f"expected {KERNEL_FILE}, found nothing")
    if len(case.name) > _MOST_NAME or not case.name.isidentifier():
        raise bad("kernel.name", f"expected the name of a function, found {case.name!r}")
    try:
        if Path(case.file).is_absolute():
            raise LeavesFolder
        source = case.read()
    except LeavesFolder:
        raise bad("kernel.file", f"{case.file!r} leaves the case folder") from None
    except FileNotFoundError:
        raise bad("kernel.file", f"{case.file!r} does not exist in {case.folder}") from None
    except OSError as error:
        problem = unreadable(case.path, error)
        is_input = isinstance(problem, InputError)
        raise (bad("kernel.file", f"cannot be read: {error.strerror}") if is_input else problem) from None
    if not case.is_ir:
        check_source(source, case.path, case.name, classes=frontend(case.language).has_classes)
