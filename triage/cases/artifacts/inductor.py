"""Cases of the modules of torch's Inductor: one kernel in a file, or the code of a graph with kernels in strings.

A decorator of ``triton_heuristics`` describes how the kernel is compiled: ``triton_meta`` has signature, constants,
divisibility and device, ``inductor_meta`` and the decorator's own arguments the rest
(torch/_inductor/runtime/triton_heuristics.py, ``_create_compile_meta`` and ``_create_compile_options``, torch 2.11).
Block sizes are chosen when the program runs; the final choice is in the ``.best_config`` beside the kernel.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.cases.artifacts import generated, literal, reading
from triage.cases.artifacts.literal import Called
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target

TOOL = "torch inductor"
"""Value of ``origin.tool``."""
_WRITTEN = re.compile(r"^(?:@triton_heuristics\.\w|\w+ = async_compile\.triton\()", re.MULTILINE)
_LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_META_OPTIONS = ("enable_fp_fusion", "waves_per_eu", "matrix_instr_nonkdim")
_MOST_BEST = 4096
"""Limit on the bytes of a ``.best_config``; those seen have 250."""


@dataclass(frozen=True, slots=True)
class Generated:
    """One kernel as Inductor wrote it: the text of its module, the function, the decorator."""

    text: str
    tree: ast.Module
    function: ast.FunctionDef
    decorator: ast.Call


def is_inductors(text: str) -> bool:
    """Whether Inductor may have written this."""
    return _WRITTEN.search(text) is not None


def kernels(text: str) -> Iterator[Generated]:
    """All kernels of a module, including those in strings."""
    tree = literal.parse(text)
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.FunctionDef():
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and "triton_heuristics" in ast.unparse(decorator.func):
                        assert tree is not None
                        yield Generated(text, tree, node, decorator)
            case ast.Call(func=ast.Attribute(attr="triton"), args=[_, ast.Constant(value=str() as inner), *_]):
                yield from kernels(inner)


def kernel_cases(path: Path, text: str, top: Path) -> Iterator[Case]:
    """A case for each kernel and configuration; what lies beside the file is read within ``top``. Raises InputError."""
    for kernel in kernels(text):
        yield from _cases(path, kernel, top)


def _cases(path: Path, kernel: Generated, top: Path) -> Iterator[Case]:
    name, where = kernel.function.name, f"{path}: {kernel.function.name}"
    settings = {keyword.arg: literal.value(keyword.value) for keyword in kernel.decorator.keywords if keyword.arg}
    meta, own = settings.get("triton_meta"), settings.get("inductor_meta")
    if not isinstance(meta, dict) or not isinstance(meta.get("signature"), dict):
        raise InputError(f"{where}: triton_meta: no signature that can be read; is it Inductor's of torch 2.x?")
    own = own if isinstance(own, dict) else {}
    target = _target(meta.get("device"), where)
    constants = {str(key): value for key, value in (meta.get("constants") or {}).items()}
    names = [argument.arg for argument in kernel.function.args.args]
    signature = {
        name: type_ for name, type_ in meta["signature"].items() if type_ != "constexpr" and name not in constants
    }
    hints = settings.get("size_hints")
    sizes = ", ".join(f"{key}={value}" for key, value in hints.items()) if isinstance(hints, dict) else ""
    hint = f"Inductor chooses block sizes when the program runs, for sizes {sizes}" if sizes else ""
    files = generated.files(kernel.text, kernel.tree, _is_torchs)
    for configuration in _configurations(path, top, settings, [name for name in names if name not in signature]):
        constexprs = {**constants, **{key: value for key, value in configuration.items() if key in names}}
        document = {
            "kernel": {"file": "kernel.py", "name": name},
            "signature": signature,
            "constexprs": constexprs,
            "divisible": _divisible(meta.get("configs"), list(meta["signature"]), signature),
            "target": str(target),
            "options": _options(meta, own, configuration, target),
            "origin": {"tool": TOOL, "file": str(path), "hint": hint},
        }
        yield generated.case(files, document, where)


def _target(device: Any, where: str) -> Target:
    properties = device.keywords if isinstance(device, Called) else {}
    kind, arch = properties.get("type"), str(properties.get("cc"))
    if kind not in ("cuda", "hip"):
        raise InputError(f"{where}: triton_meta.device: made for {kind!r}; triage compiles for cuda and hip")
    return Target.parse(f"{kind}:{arch.partition(':')[0]}")


def _configurations(path: Path, top: Path, settings: Mapping[str, Any], constexprs: list[str]) -> list[dict[str, Any]]:
    """Block sizes and launch options: those in the file, or the final choice beside it."""
    listed = settings.get("configs")
    if isinstance(listed, list) and listed:
        return [_flat(configuration) for configuration in listed if isinstance(configuration, dict)]
    fixed = {name: settings[name] for name in _LAUNCH if isinstance(settings.get(name), int)}
    return [{**_best(path, top, constexprs), **fixed}]


def _flat(configuration: dict[str, Any]) -> dict[str, Any]:
    inner = configuration.get("kwargs")
    return {**configuration, **(inner if isinstance(inner, dict) else {})}


def _best(path: Path, top: Path, constexprs: list[str]) -> dict[str, Any]:
    """The only ``.best_config`` beside the file that has all block sizes; empty if there are several."""
    complete = []
    for entry in reading.entries(path.parent):
        if entry.suffix == ".best_config" and entry.is_file():
            try:
                best = json.loads(reading.text(entry, top, _MOST_BEST))
            except (InputError, ValueError, RecursionError):
                continue
            if isinstance(best, dict) and constexprs and all(isinstance(best.get(name), int) for name in constexprs):
                complete.append({name: best[name] for name in (*constexprs, *_LAUNCH) if name in best})
    return complete[0] if len(complete) == 1 else {}


def _divisible(configs: Any, order: list[str], signature: Mapping[str, Any]) -> dict[str, int]:
    """Divisors: 16 for arguments that the hints name, 1 for other pointers. Three forms of hints exist."""
    first = configs[0] if isinstance(configs, list) and configs else configs
    positions: set[int] = set()
    match first:
        case dict():  # from Triton 3.3 on
            for key, hints in first.items():
                if isinstance(key, tuple) and len(key) == 1 and ["tt.divisibility", 16] in _lists(hints):
                    positions.add(key[0])
        case Called(arguments=[{"arg_properties": {"tt.divisibility": divisible}}]):  # 3.2
            positions |= set(divisible)
        case Called(keywords={"divisible_by_16": divisible}):
            positions |= set(divisible)
    named = {order[index] for index in positions if isinstance(index, int) and 0 <= index < len(order)}
    pointers = (name for name, type_ in signature.items() if str(type_).startswith("*"))
    return {**dict.fromkeys(pointers, 1), **{name: 16 for name in order if name in named and name in signature}}


def _lists(hints: Any) -> list[list[Any]]:
    return [list(hint) for hint in hints if isinstance(hint, list | tuple)] if isinstance(hints, list | tuple) else []


def _options(
    meta: Mapping[str, Any], own: Mapping[str, Any], configuration: Mapping[str, Any], target: Target
) -> dict[str, Any]:
    asserts = bool(own.get("assert_indirect_indexing", True)) and target.backend != "hip"
    options = {name: meta[name] for name in _META_OPTIONS if isinstance(meta.get(name), bool | int)}
    options |= {name: configuration[name] for name in _LAUNCH if configuration.get(name) is not None}
    options |= {"debug": asserts, "sanitize_overflow": False}
    if meta.get("launch_pdl") is True:
        options["launch_pdl"] = True
    if meta.get("disable_ftz") is True:
        options["enable_reflect_ftz"] = False
    return options


def _is_torchs(node: ast.AST) -> bool:
    """Whether code is for Inductor's own use: the decorator, and the choice of a driver."""
    match node:
        case ast.Call():
            return "triton_heuristics" in ast.unparse(node.func)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="triton_helpers")))):
            return True
        case _:
            return False
