"""A kernel as a test has it, as a case: a jitted function, ``path/kernel.py::name``, or whatever CASE is elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.capture.live import program
from triage.cases.locate import locate
from triage.model import case as cases
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target

_LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg")
"""The fields of a ``triton.Config`` that are options of a compile; what a release has no field for is not asked."""


def from_text(text: str, near: Sequence[Path], given: Mapping[str, Any], target: Target) -> Case:
    """The case that ``text`` names; a relative path is looked for in the folders ``near``. Raises InputError."""
    path, colons, name = text.partition("::")
    found = next((folder / path for folder in near if (folder / path).exists()), None)
    case = locate(f"{found}{colons}{name}" if found is not None else text)
    return _configured(case, given, target)


def from_kernel(kernel: Any, folder: Path, given: Mapping[str, Any], target: Target) -> tuple[Case, list[str]]:
    """A jitted function's case, with a module of its own below ``folder``; and what of the kernel could not be put
    there. Autotuners and heuristics above it do not count: their values are among ``given``. Raises InputError."""
    values, written = program("values"), program("module")
    found = _jitted(kernel)
    module = written.Module()
    constants, bound = {}, {}
    for name, value in given["constexprs"].items():
        try:
            constants[name] = values.in_json(value)
        except values.NoText:
            bound[name] = values.unwrapped(value)
    try:
        name = module.kernel(found, program("case").in_scope(bound), {})
    except (values.NoText, OSError, TypeError, SyntaxError) as error:
        raise InputError(f"{kernel_name(kernel)}: cannot be written down on its own: {error}") from None
    text = module.text()
    digest = hashlib.sha256(json.dumps([text, repr(given), str(target)]).encode()).hexdigest()[:12]
    place = folder / f"{name}-{digest}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "kernel.py").write_text(text, encoding="utf-8")
    language = cases.Language.GLUON if written.is_gluon(found) else cases.Language.TRITON
    case = Case(folder=place, file="kernel.py", name=name, signature=cases.frozen(), language=language)
    return _configured(case, {**given, "constexprs": constants}, target), module.notes


def save(case: Case, folder: Path) -> None:
    """Make a case folder of one whose source is there already."""
    (folder / "case.json").write_text(json.dumps(case.to_json(), indent=1) + "\n", encoding="utf-8")


def kernel_name(kernel: Any) -> str:
    """What a reader calls it."""
    return str(getattr(program("module").python(kernel), "__name__", kernel))


def of_config(config: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The constexprs and the options of a ``triton.Config``."""
    options = {name: getattr(config, name) for name in _LAUNCH if getattr(config, name, None) is not None}
    return dict(config.kwargs), options


def command(case: Case, triton: str | None) -> str:
    """What checks a case again that is no folder."""
    words = ["triage", "check", f"{case.path}::{case.name}", "--target", str(case.target)]
    words += ["--triton", triton] if triton else []
    words += [word for name, type_ in case.signature.items() for word in ("--arg", f"{name}={type_}")]
    words += [word for name, value in case.constexprs.items() for word in ("--const", f"{name}={_literal(value)}")]
    words += [word for name, value in case.divisible.items() for word in ("--divisible", f"{name}={value}")]
    for name, value in case.options.items():
        flag = f"--{name.replace('_', '-')}"
        words += [flag, str(value)] if name in _LAUNCH[:3] else ["--option", f"{name}={value}"]
    return shlex.join(words)


_FLAGS = {"const": "constexprs", "arg": "signature", "divisible": "divisible"}


def in_python(text: str, kernel: Any) -> str:
    """An error of the command line's making, for somebody who has called a function."""
    text = re.sub(r"\S+::(?=\w+: )", "", text) if not isinstance(kernel, str | Path) else text
    flag = r"--(const|arg|divisible) (\w+)=(\w+)"
    text = re.sub(flag, lambda one: f"{_FLAGS[one[1]]}={{'{one[2]}': {one[3]}}}", text)
    return re.sub(r"--(const|arg|divisible|triton)\b", lambda one: _FLAGS.get(one[1], one[1]), text)


_OBJECT = re.compile(r"(?:tl|gl)\.\w")


def _literal(value: Any) -> str:
    return value if isinstance(value, str) and _OBJECT.match(value) else repr(value)


def _jitted(kernel: Any) -> Any:
    values = program("values")
    found = kernel
    while not values.is_jitted(found) and values.is_triton(type(found).__module__) and hasattr(found, "fn"):
        found = found.fn
    if not values.is_jitted(found):
        raise InputError(
            f"compile_matrix: {kernel_name(kernel)}: expected a function with @triton.jit or @gluon.jit, or "
            f"'path/kernel.py::name', found a {type(kernel).__name__}"
        )
    return found


def _configured(case: Case, given: Mapping[str, Any], target: Target) -> Case:
    """The case with what was given, which is checked as if it came from a file. Raises InputError."""
    signature = {name: type_ for name, type_ in given["signature"].items() if type_ != "constexpr"}
    constants = {name: _listed(value) for name, value in given["constexprs"].items()}
    document = {
        **case.to_json(),
        "signature": signature or dict(case.signature),
        "constexprs": {**case.constexprs, **constants},
        "divisible": {**({} if signature else case.divisible), **given["divisible"]},
        "options": {**case.options, **given["options"]},
        "target": str(target),
        "toolchain": {},
    }
    document.pop("inputs", None)
    checked = cases.from_json(document, case.folder, case.name)
    return replace(checked, language=case.language)


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, tuple) else value
