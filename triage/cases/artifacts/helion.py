"""Cases of the reports that Helion writes to ``HELION_AUTOTUNER_TRITON_FAILURE_DUMP_DIR``.

Each failure is a file: the Triton module, after comments that name the release and the error
(helion/autotuner/logger.py, ``dump_triton_failure``). The host function's ``_launcher`` call names the kernel, its
arguments and the launch options. It contains no types of tensors, strides and sizes.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triage.cases.artifacts import generated, literal
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target

TOOL = "helion"
"""Value of ``origin.tool``."""
_HEAD = "# Triton failure report\n"
_RELEASE = re.compile(r"^# triton version: (\d+\.\d+\.\d+)$", re.MULTILINE)
_ERROR = re.compile(r"^# error: (.{1,300})", re.MULTILINE)
_LAUNCHER = "_launcher"
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim")
_HINT = (
    "Helion does not write the types of arguments; pointers are *fp32 and the like, sizes and strides i32, 1 a --const"
)


def is_helions(text: str) -> bool:
    """Whether this is a report of Helion."""
    return text.startswith(_HEAD)


def kernel_cases(path: Path, text: str, default: Target) -> Iterator[Case]:
    """A case for each kernel that is launched. Raises InputError."""
    tree = literal.parse(text)
    if tree is None:
        raise InputError(f"{path}: Helion's report, but its Triton code is not Python")
    jitted = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_jitted(node)}
    launches = [(call, host) for host in tree.body for call in ast.walk(host) if _is_launch(call, jitted)]
    if not launches:
        raise InputError(f"{path}: Helion's report, but without a launch that can be read")
    files = generated.files(text, tree, _is_helions_own)
    release, error = _RELEASE.search(text), _ERROR.search(text)
    for call, host in launches:
        assert isinstance(call, ast.Call) and isinstance(call.args[0], ast.Name)
        kernel = jitted[call.args[0].id]
        options = {keyword.arg: literal.value(keyword.value) for keyword in call.keywords if keyword.arg in _OPTIONS}
        document = {
            "kernel": {"file": "kernel.py", "name": kernel.name},
            "signature": {},
            "constexprs": _constants(kernel, call, host),
            "target": str(default),
            "options": {name: value for name, value in options.items() if isinstance(value, int)},
            "toolchain": {"triton": release[1]} if release else {},
            "origin": {"tool": TOOL, "file": str(path), "error": error[1] if error else None, "hint": _HINT},
        }
        yield generated.case(files, document, f"{path}: {kernel.name}")


def _is_jitted(node: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)


def _is_launch(node: ast.AST, jitted: dict[str, ast.FunctionDef]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=kernel), *_]):
            return name == _LAUNCHER and kernel in jitted
        case _:
            return False


def _is_helions_own(node: ast.AST) -> bool:
    """Whether a statement is code for the host."""
    match node:
        case ast.FunctionDef():
            return not _is_jitted(node)
        case ast.Expr(value=ast.Call(func=function)):
            return ast.unparse(function).startswith("helion.")
        case _:
            return False


def _constants(kernel: ast.FunctionDef, call: ast.Call, host: ast.AST) -> dict[str, Any]:
    """Compile-time arguments that are numbers, or names of numbers in the host function."""
    known = {
        node.targets[0].id: literal.value(node.value)
        for node in ast.walk(host)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    arguments: dict[str, ast.expr] = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    parameters = kernel.args.args
    # The first two positional arguments are the kernel and the grid.
    arguments |= {parameter.arg: value for parameter, value in zip(parameters, call.args[2:], strict=False)}
    constants = {}
    for parameter in parameters:
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        if parameter.arg not in arguments or "constexpr" not in annotation:
            continue
        node = arguments[parameter.arg]
        value = known.get(node.id) if isinstance(node, ast.Name) else literal.value(node)
        if isinstance(value, bool | int | float | str):
            constants[parameter.arg] = value
    return constants
