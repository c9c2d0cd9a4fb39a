"""A case of ``FILE.py::NAME``: a kernel in a source file, with the values that the command line states."""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.cases.slices import sliced
from triage.cases.stated import StatedValues, read_target, stated_values
from triage.filesystem.files import ANYWHERE
from triage.frontends.frontend import frontend
from triage.model import case as cases
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON
from triage.model.errors import InputError, unreadable
from triage.model.language import Language
from triage.model.target import DEFAULT_TARGET, Target


def from_source(text: str, path: Path, options: Mapping[str, Any]) -> Case:
    """The case of the kernel that ``text`` names in the file ``path``. Raises InputError."""
    file, _, name = text.rpartition("::")
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
    target = read_target(options, Target.parse(DEFAULT_TARGET), frontend(language))
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
