"""Finds the case of a CASE argument: ``kernel.py::function``, a case folder, a reproducer, another tool's files."""

import ast
import difflib
import glob
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.cases import reproducers
from triage.cases.artifacts import ir_text, mlir, resolve
from triage.cases.artifacts.resolve import Located
from triage.cases.packages import find_package
from triage.cases.slices import sliced
from triage.cases.stated import StatedValues
from triage.filesystem.files import ANYWHERE
from triage.frontends import documents
from triage.frontends.constants import check_constant
from triage.frontends.frontend import Frontend, frontend
from triage.model import case as cases
from triage.model.case import Case, Language
from triage.model.compilers import CUTE, TRITON
from triage.model.errors import InputError, unreadable
from triage.model.target import DEFAULT_TARGET, Target
from triage.source.imports import imported_files

_FLAGS = ("num_warps", "num_stages", "num_ctas")
"""Options that have flags of their own."""

_NOT_A_LITERAL = (ValueError, SyntaxError, MemoryError, RecursionError)
"""Exceptions of ``ast.literal_eval`` for text that is not a literal."""


def locate(text: str, options: Mapping[str, Any] | None = None) -> Case:
    """The single case that ``text`` names. Raises InputError.

    ``options`` are the command line's ``arg``, ``const``, ``divisible``, ``option`` (lists of ``NAME=VALUE``),
    ``num_warps``, ``num_stages``, ``num_ctas`` and ``target``. They describe a kernel in a source file, and change a
    stored case.
    """
    located = locate_all(text, options)
    if len(located.cases) != 1:
        names = ", ".join(str(case.path) for case in located.cases[:4])
        raise InputError(f"{text}: contains {len(located.cases)} cases, expected one; name {names or 'another'}")
    return located.cases[0]


def locate_all(text: str, options: Mapping[str, Any] | None = None) -> Located:
    """All cases that ``text`` names; a folder of Triton's cache, for example, may contain several."""
    options = {name: value for name, value in (options or {}).items() if value not in (None, (), [])}
    if "::" in text:
        return Located((_from_source(text, options),))
    path = Path(text)
    if not _exists(path) and (folder := reproducers.folder(text)) is not None:
        path = folder
    if text and not _exists(path) and (mlir_files := _mlir_reproducers(path)):
        path = mlir.crashed(mlir_files, path.parent)[0]
    if not text or not _exists(path):
        near = difflib.get_close_matches(text, reproducers.names(), n=1)
        fix = (
            "give kernel.py::function, a case folder, its case.json or a reproducer's name; "
            "check and draft take a Python file, a folder or a package too"
        )
        if near:
            fix = f"did you mean the reproducer {near[0]}?"
        raise InputError(f"{text or 'an empty name'}: no such case; {fix}")
    if problem := _is_notebook(text):
        raise InputError(f"{text}: {problem}")
    if path.suffix == ".py" and not resolve.is_generated(path, ANYWHERE):
        raise InputError(f"{text}: name the kernel as well: {text}::FUNCTION --arg NAME=TYPE --const NAME=VALUE")
    if path.suffix == ".json" or (path.is_dir() and _exists(path / "case.json")):
        case = _changed(documents.load(path), options)
        if not case.is_ir:
            imported_files(case)  # Refuses a case folder with links that lead out of it.
        return Located((case,))
    if path.is_dir() and (folders := _case_folders(path)):
        return Located(tuple(case for folder in folders for case in locate_all(str(folder), options).cases))
    located = resolve.find(path, Target.parse(DEFAULT_TARGET))
    changed = [_changed(case, options) for case in located.cases]
    if len(changed) == 1 and (incomplete := resolve.incomplete(changed[0])):
        raise InputError(f"{text}: {incomplete}")
    assumptions = [line for case in changed if (line := resolve.assumptions(case, options))]
    return Located(tuple(changed), (*located.notes, *dict.fromkeys(assumptions)))


def sources(text: str, search: Callable[[], Iterable[str]]) -> Path | None:
    """The Python file or the folder of sources that ``text`` names by its path, or as a package in a folder of
    ``search``; None where it names a case. A package is not imported."""
    path = Path(text)
    if not text or "::" in text:
        return None
    if not _exists(path):
        is_case = reproducers.folder(text) is not None or bool(_mlir_reproducers(path))
        return None if is_case else find_package(text, search())
    if path.is_file():
        return path if path.suffix == ".py" and not resolve.is_generated(path, ANYWHERE) else None
    # Cases may be written beside the sources that they were drafted of.
    if _exists(path / "case.json") or (_case_folders(path) and next(path.glob("*.py"), None) is None):
        return None
    if next(path.rglob("*.py"), None) is None:
        return None
    if not any(_exists(path / name) for name in _PROJECT):
        with suppress(InputError):
            resolve.find(path, Target.parse(DEFAULT_TARGET))
            return None
    return path


_PROJECT = ("__init__.py", "pyproject.toml", "setup.py", "setup.cfg", ".git")
"""A folder that has one of these was written by people, and not left by a tool."""


def no_sources(text: str) -> InputError:
    """The error where ``sources`` answers None, and sources are wanted."""
    problem = _is_notebook(text) or "neither a Python file, a folder of sources nor an installed package"
    return InputError(f"{text}: {problem}")


def source_file(text: str) -> Path:
    """The file of ``FILE.py::NAME``. Raises InputError."""
    if not text or not _exists(Path(text)) or not Path(text).is_file():
        raise InputError(f"{text}: no such file; before '::' comes the kernel's source file")
    if problem := _is_notebook(text):
        raise InputError(f"{text}: {problem}")
    return Path(text)


def _is_notebook(text: str) -> str | None:
    return (
        "a notebook; make a Python file of it (jupyter nbconvert --to script), or see `triage help notebook`"
        if text.endswith(".ipynb")
        else None
    )


def _case_folders(path: Path) -> list[Path]:
    """The case folders in a folder, in the order of their names."""
    try:
        return [folder for folder in sorted(path.iterdir()) if (folder / "case.json").is_file()]
    except OSError:
        return []


def _exists(path: Path) -> bool:
    """Whether a path exists; False too for text that cannot be a path: too long, or with a null byte."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _mlir_reproducers(path: Path) -> list[Path]:
    """The files of ``TRITON_REPRODUCER_PATH``, which from 3.6 on is a prefix: each stage writes its own file."""
    try:
        return [file for file in path.parent.glob(f"{glob.escape(path.name)}.*.repro.mlir") if file.is_file()]
    except (OSError, ValueError):
        return []


def _from_source(text: str, options: Mapping[str, Any]) -> Case:
    file, _, name = text.rpartition("::")
    path = source_file(file)
    if not name.isidentifier():
        raise InputError(f"{text}: after '::' comes the name of a kernel, as in {file}::matmul")
    case = Case(path.parent, path.name, name, cases.frozen(), boundary=ANYWHERE)
    try:
        source = case.read()
    except OSError as error:
        raise unreadable(file, error) from None
    cases.check_source(source, path, name, classes=True)
    language = _language(source, name)
    cases.check_source(source, path, name, classes=frontend(language).has_classes)
    target = _target(options, Target.parse(DEFAULT_TARGET), frontend(language))
    values = stated_values(options, language)
    if unknown := sorted(set(values.divisible) - set(values.signature)):
        raise InputError(f"--divisible {unknown[0]}: not an argument given with --arg")
    of_constructor = _constructor_arguments(source, name)
    constructed = {key: value for key, value in values.constexprs.items() if key in of_constructor}
    return replace(
        sliced(case),
        signature=cases.frozen(_with_annotated(text, source, name, values, language)),
        constexprs=cases.frozen({key: value for key, value in values.constexprs.items() if key not in constructed}),
        construct=cases.frozen(constructed),
        divisible=values.divisible,
        target=target,
        options=values.options,
        language=language,
    )


def _with_annotated(text: str, source: bytes, name: str, stated: StatedValues, language: Language) -> dict[str, str]:
    """The signature with the types that annotations state. Raises InputError naming all parameters that have none."""
    host = frontend(language).host(source, name)
    known = {**stated.signature, **stated.constexprs}
    if host is None:
        return dict(stated.signature)
    if missing := [option for parameter, option in host.missing.items() if parameter not in known]:
        raise InputError(f"{text}: not given, and not in its annotations: {', '.join(missing)}")
    annotated = {parameter: type_ for parameter, type_ in host.annotated.items() if parameter not in known}
    return {**stated.signature, **annotated}


def stated_values(options: Mapping[str, Any], language: Language = Language.TRITON) -> StatedValues:
    """What the command line states of a kernel. Raises InputError."""
    reader = frontend(language)
    signature = _signature(options.get("arg") or (), reader)
    constexprs = _constexprs(options.get("const") or (), reader)
    if both := sorted(set(signature) & set(constexprs)):
        raise InputError(f"--const {both[0]}: also given as --arg; an argument is one or the other")
    divisible = _divisors(options.get("divisible") or (), reader)
    stated = {name: value for name, value in options.items() if value not in (None, (), [])}
    return StatedValues(*map(cases.frozen, (signature, constexprs, divisible, _options(stated, reader))))


def targets(text: str | None) -> list[Target]:
    """The targets of ``--target``: one or several, with commas between them. Raises InputError."""
    words = (DEFAULT_TARGET if text is None else text).split(",")
    triton = frontend(Language.TRITON)
    return list(dict.fromkeys(_target({"target": word.strip()}, Target("cuda", "90"), triton) for word in words))


def _changed(case: Case, options: Mapping[str, Any]) -> Case:
    """A stored case with its values replaced by those of the command line."""
    reader = frontend(case.language)
    arguments, constants = _signature(options.get("arg", ()), reader), _constexprs(options.get("const", ()), reader)
    construct = {name: constants.pop(name) for name in case.construct if name in constants}
    signature = {name: type_ for name, type_ in {**case.signature, **arguments}.items() if name not in constants}
    constexprs = {name: value for name, value in {**case.constexprs, **constants}.items() if name not in arguments}
    divisors = _divisors(options.get("divisible", ()), reader)
    if unknown := sorted(set(divisors) - set(signature)):
        raise InputError(f"--divisible {unknown[0]}: not an argument given with --arg")
    divisible = {**case.divisible, **divisors}
    if case.is_ir and (both := sorted({*signature, *constexprs})):
        raise InputError(f"{case.path}: {both[0]}: IR has no named arguments and constexprs any more; leave it out")
    changed = case.replaced(
        signature=signature,
        constexprs=constexprs,
        divisible={name: value for name, value in divisible.items() if name in signature},
        options={**case.options, **_options(options, reader)},
        target=_target(options, case.target, reader),
    )
    changed = replace(changed, construct=cases.frozen({**case.construct, **construct}))
    return ir_text.completed(changed) if case.is_ir else changed


def _target(options: Mapping[str, Any], default: Target, language: Frontend) -> Target:
    try:
        target = Target.parse(options["target"]) if "target" in options else default
    except InputError as error:
        raise InputError(f"--{error}") from None
    language.check_target(target, lambda problem: InputError(f"--target {target}: {problem}"))
    return target


def _constructor_arguments(source: bytes, name: str) -> set[str]:
    """The arguments of the constructor of the class ``name``; empty where it is none, or has no constructor here."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and node.name == name:
            constructors = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
            return {argument.arg for each in constructors for argument in (*each.args.args, *each.args.kwonlyargs)}
    return set()


def _language(source: bytes, name: str) -> Language:
    """The language of a kernel, read from its decorator. The worker compares it with the function itself. A file may
    contain kernels of both languages, so the import of the decorator decides. For a name that is not a decorated
    function (assigned, imported), any import of Gluon makes it Gluon."""
    nodes = list(ast.walk(ast.parse(source)))
    modules = {alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {(node.module or "").partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    if CUTE.module in modules and TRITON.module not in modules:
        return Language.CUTE
    gluon = [
        re.escape(alias.asname or alias.name)
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if "gluon" in f"{getattr(node, 'module', None)}.{alias.name}"
    ]
    if not gluon:
        return Language.TRITON
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]
    decorators = [ast.unparse(decorator) for function in functions for decorator in function.decorator_list]
    from_gluon = re.compile(rf"(?:{'|'.join(gluon)})\b")
    return Language.GLUON if not decorators or any(map(from_gluon.match, decorators)) else Language.TRITON


def _pairs(option: str, values: Iterable[str], example: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or not value:
            raise InputError(f"--{option} {text!r}: write {example}")
        if name in pairs:
            raise InputError(f"--{option} {name}: given twice")
        pairs[name] = value
    return pairs


def _signature(values: Iterable[str], language: Frontend) -> dict[str, str]:
    signature = _pairs("arg", values, "--arg NAME=TYPE, such as --arg a_ptr=*fp16")
    for name, text in signature.items():
        language.check_type(text, lambda problem, name=name: InputError(f"--arg {name}: {problem}"))
    return signature


def _constexprs(values: Iterable[str], language: Frontend) -> dict[str, Any]:
    pairs = _pairs("const", values, "--const NAME=VALUE, such as --const BLOCK_M=128")
    return {name: constant(name, text, language) for name, text in pairs.items()}


def constant(name: str, text: str, language: Frontend, option: str = "--const") -> Any:
    """A Python literal, a dtype by name, or an object of the language as text. Raises InputError."""
    if (dtype := language.dtype(text)) is not None:
        return dtype
    if language.object_text.match(text):
        return text
    try:
        value = _with_lists(ast.literal_eval(text))
    except _NOT_A_LITERAL:
        lowered = {"true": "True", "false": "False", "none": "None"}.get(text.lower())
        fix = f"did you mean {name}={lowered}?" if lowered else f"for text write {name}='\"{text}\"'"
        raise InputError(f"{option} {name}={text}: neither a Python literal nor a dtype; {fix}") from None
    check_constant(value, lambda problem: InputError(f"{option} {name}: {problem}"))
    return value


def _with_lists(value: Any) -> Any:
    """Tuples as lists, as in JSON; the worker converts them back."""
    return [_with_lists(item) for item in value] if isinstance(value, tuple | list) else value


def _divisors(values: Iterable[str], language: Frontend) -> dict[str, int]:
    divisors = {}
    for name, text in _pairs("divisible", values, "--divisible NAME=16").items():
        value = int(text) if text.isascii() and text.isdigit() else text
        language.check_divisor(value, lambda problem, name=name: InputError(f"--divisible {name}: {problem}"))
        divisors[name] = int(value)
    return divisors


def _options(options: Mapping[str, Any], language: Frontend) -> dict[str, Any]:
    compiled_with = {name: options[name] for name in _FLAGS if name in options}
    for name, text in _pairs("option", options.get("option", ()), "--option NAME=VALUE").items():
        if name in compiled_with:
            raise InputError(f"--option {name}: also given as {_flag(name)}")
        compiled_with[name] = option_value(name, text, "--option")
    language.check_options(
        compiled_with, lambda where, problem: InputError(f"{_flag(where.partition('.')[2])}: {problem}")
    )
    return compiled_with


def option_value(name: str, text: str, option: str) -> Any:
    """The value of a back-end's option: a Python literal, else the text itself. Raises InputError."""
    try:
        value = _with_lists(ast.literal_eval(text))
    except _NOT_A_LITERAL:
        value = text
    check_constant(value, lambda problem: InputError(f"{option} {name}: {problem}"))
    return value


def _flag(option: str) -> str:
    """The flag that states an option."""
    return f"--{option.replace('_', '-')}" if option in _FLAGS else f"--option {option}"
