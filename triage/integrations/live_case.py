"""A Case from a kernel in a test: a jitted function, ``path/kernel.py::name``, or any other CASE."""

import hashlib
import inspect
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.capture.live import program
from triage.cases.locate import locate
from triage.frontends import documents
from triage.frontends.frontend import Frontend, frontend
from triage.model import case as cases
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.target import Target

_MARKS = ("_dsl_object", "_dsl_cls")
"""What the decorators of CuTe DSL set on a function: before its first compile the latter, from 4.3 on."""
_LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg")
"""Fields of a ``triton.Config`` that are compile options; a field that the release lacks is ignored."""


def from_text(text: str, near: Sequence[Path], stated: Mapping[str, Any], target: Target) -> Case:
    """The case named by ``text``; a relative path is looked up in the folders ``near``. Raises InputError."""
    path, colons, name = text.partition("::")
    located = next((folder / path for folder in near if (folder / path).exists()), None)
    case = locate(f"{located}{colons}{name}" if located is not None else text)
    return _configured(case, stated, target)


def from_kernel(kernel: Any, folder: Path, stated: Mapping[str, Any], target: Target) -> tuple[Case, list[str]]:
    """The case of a jitted function, or an object of CuTe DSL that is called like one, with its own module below
    ``folder``; and notes on parts that could not be captured.

    Autotuners and heuristics around it are ignored: their values are in ``stated``. Raises InputError."""
    values = program("values")
    constants, bound = {}, {}
    for name, value in stated["constexprs"].items():
        try:
            constants[name] = values.in_json(value)
        except values.NoText:
            bound[name] = values.unwrapped(value)
    construct: Mapping[str, Any] = {}
    try:
        if (host := _host(kernel)) is not None:
            module = program("cute.module").CuteModule(host, bound)
            name, construct = module.kernel(None if inspect.isfunction(kernel) else kernel)
            language = Language.CUTE
        else:
            written, jitted = program("module"), _jitted(kernel)
            module = written.KernelModule()
            name = module.define(jitted, program("case").in_scope(bound), {})
            language = Language.GLUON if written.is_gluon(jitted) else Language.TRITON
    except (values.NoText, OSError, TypeError, SyntaxError) as error:
        raise InputError(f"{kernel_name(kernel)}: cannot be written down on its own: {error}") from None
    text = module.text()
    digest = hashlib.sha256(json.dumps([text, repr(stated), str(target)]).encode()).hexdigest()[:12]
    case_folder = folder / f"{name}-{digest}"
    case_folder.mkdir(parents=True, exist_ok=True)
    (case_folder / "kernel.py").write_text(text, encoding="utf-8")
    case = Case(folder=case_folder, file="kernel.py", name=name, signature=cases.frozen(), language=language)
    return _configured(case, {**stated, "constexprs": constants, "construct": construct}, target), module.notes


def _host(kernel: Any) -> Any:
    """The Python function of a host function of CuTe DSL, or of an object whose ``__call__`` is one; None for anything
    else."""
    called = kernel if inspect.isfunction(kernel) else getattr(type(kernel), "__call__", None)  # noqa: B004
    function = inspect.unwrap(called) if inspect.isfunction(called) else None
    return function if any(hasattr(function, mark) for mark in _MARKS) else None


def kernel_name(kernel: Any) -> str:
    """Name for messages."""
    return str(getattr(program("module").python(kernel), "__name__", kernel))


def of_config(config: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Constexprs and options of a ``triton.Config``."""
    options = {name: getattr(config, name) for name in _LAUNCH if getattr(config, name, None) is not None}
    return dict(config.kwargs), options


def command(case: Case, release: str | None) -> str:
    """The ``triage check`` command for a case that is not a folder."""
    language = frontend(case.language)
    constants = {**case.construct, **case.constexprs}
    words = ["triage", "check", f"{case.path}::{case.name}", "--target", str(case.target)]
    words += [case.compiler.option, release] if release else []
    words += [word for name, type_ in case.signature.items() for word in ("--arg", f"{name}={type_}")]
    words += [word for name, value in constants.items() for word in ("--const", f"{name}={_literal(value, language)}")]
    words += [word for name, value in case.divisible.items() for word in ("--divisible", f"{name}={value}")]
    for name, value in case.options.items():
        flag = f"--{name.replace('_', '-')}"
        words += [flag, str(value)] if name in _LAUNCH[:3] else ["--option", f"{name}={value}"]
    return shlex.join(words)


_FLAGS = {"const": "constexprs", "arg": "signature", "divisible": "divisible"}


def in_python(text: str, kernel: Any) -> str:
    """Rephrase an error about command line options in terms of the fixture's parameters."""
    text = re.sub(r"\S+::(?=\w+: )", "", text) if not isinstance(kernel, str | Path) else text
    flag = r"--(const|arg|divisible) (\w+)=(\w+)"
    text = re.sub(flag, lambda match: f"{_FLAGS[match[1]]}={{'{match[2]}': {match[3]}}}", text)
    return re.sub(r"--(const|arg|divisible|triton|cute)\b", lambda match: _FLAGS.get(match[1], match[1]), text)


def _literal(value: Any, language: Frontend) -> str:
    return value if isinstance(value, str) and language.object_text.match(value) else repr(value)


def _jitted(kernel: Any) -> Any:
    values = program("values")
    jitted = kernel
    while not values.is_jitted(jitted) and values.is_compilers(type(jitted).__module__) and hasattr(jitted, "fn"):
        jitted = jitted.fn
    if not values.is_jitted(jitted):
        raise InputError(
            f"compile_matrix: {kernel_name(kernel)}: expected a function with @triton.jit, @gluon.jit or @cute.jit, "
            f"or 'path/kernel.py::name', found a {type(kernel).__name__}"
        )
    return jitted


def _configured(case: Case, stated: Mapping[str, Any], target: Target) -> Case:
    """The case with the stated values, validated as if read from a file. Raises InputError."""
    signature = {name: type_ for name, type_ in stated["signature"].items() if type_ != "constexpr"}
    constants = {name: _listed(value) for name, value in stated["constexprs"].items()}
    document = {
        **case.to_json(),
        "signature": signature or dict(case.signature),
        "constexprs": {**case.constexprs, **constants},
        "construct": {name: _listed(value) for name, value in {**case.construct, **stated["construct"]}.items()},
        "divisible": {**({} if signature else case.divisible), **stated["divisible"]},
        "options": {**case.options, **stated["options"]},
        "target": str(target),
        "toolchain": {},
    }
    document.pop("inputs", None)
    if not document["construct"]:
        del document["construct"]
    checked = documents.checked(document, case.folder, case.name)
    return replace(checked, language=case.language)


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value
