"""Writes a compile of CuTe DSL as a case folder: ``case.json`` and a self-contained ``kernel.py``."""

import hashlib
import inspect
import json
import re
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .. import folder, labels, values
from .. import origin as origins
from . import arguments
from .module import CuteModule, exact

SCHEMA = "triton-triage/case/1"
_FILE = "kernel.py"
_NO_EFFECT = ("DumpDir", "KeepCUBIN", "KeepPTX", "KeepSASS", "NvdisasmOptions", "GPUArch", "GenerateLineInfo",
              "FlattenLocsOutputJsonPath", "RemarkFilter", "WarningsFilter", "RemarkOutput",
              "CollectCompilerDiagnostics")  # fmt: skip
"""Compile options that change what is kept and printed, and GPUArch, which is the target."""
_STATED = {"OptLevel": "opt_level", "PtxasOptions": "ptxas_options", "opt_level": "opt_level"}
"""Compile options that a case has; up to 4.2 options have other names."""
_ARCHITECTURE = re.compile(r"sm_(\d+)[af]?\Z")
_FALLBACK = "sm_100a"
"""What the DSL compiles for without a GPU (``cutlass/base_dsl/env_manager.py``)."""


class HostCall(NamedTuple):
    """A call of a host function: the function as the user wrote it, its arguments (a method's first is its instance),
    and the DSL's object, None where there was none yet."""

    function: Any
    positional: Tuple[Any, ...]
    named: Dict[str, Any]
    dsl: Any


class Described(NamedTuple):
    """What is about to be compiled: files of a case, the label of its folder, and the kernel's name. ``key``: equal for
    equal compiles of a release; empty where no case can describe it, for the reason in the files."""

    files: Dict[str, str]
    label: str
    key: str
    kernel: str


def describe(call: HostCall, frame: Any) -> Optional[Described]:
    """What the call that ``frame`` is in compiles. Returns None when nothing is to be kept."""
    if not folder.path():
        return None
    kernel = _name(call)
    origin = origins.origin(kernel, call.function, frame)
    try:
        document, text = _case(call)
        key = hashlib.sha256(json.dumps([document, text], sort_keys=True).encode("utf-8", "replace")).hexdigest()[:32]
        origin["notes"] = document.pop("notes")
        document["origin"] = {**origin, "hash": key}
        label = labels.label(kernel, {**document.get("construct", {}), **document["constexprs"]}, document["options"])
        return Described({"case.json": json.dumps(document, indent=1) + "\n", _FILE: text}, label, key, kernel)
    except values.NoText as error:
        origin["problem"] = str(error)
    except Exception as error:
        folder.note()
        origin["problem"] = "%s: %s" % (type(error).__name__, error)
    return Described({"origin.json": json.dumps(origin, indent=1)}, labels.label(kernel, {}, {}), "", kernel)


def _name(call: HostCall) -> str:
    """The host function's name, or that of the class whose ``__call__`` it is."""
    name = str(call.function.__name__)
    return name if name != "__call__" or not call.positional else type(call.positional[0]).__name__


def _case(call: HostCall) -> Tuple[Dict[str, Any], str]:
    """The document of the case, without its origin, and the text of its kernel's file."""
    instance, parameters = _bound(call)
    signature: Dict[str, str] = {}
    constexprs: Dict[str, Any] = {}
    defaults: Dict[str, Any] = {}
    for parameter, value in parameters:
        type_ = None if _is_constexpr(parameter) else arguments.type_of(value, parameter.annotation)
        if type_ is not None:
            signature[parameter.name] = type_
        elif value is not parameter.default:
            try:
                constexprs[parameter.name] = exact(value)
            except values.NoText:
                defaults[parameter.name] = value
    module = CuteModule(call.function, defaults)
    kernel = module.kernel(instance)
    target, arch = _target(call.dsl)
    options, unsupported = _options(getattr(call.dsl, "compile_options", None))
    document: Dict[str, Any] = {
        "schema": SCHEMA,
        "language": "cute",
        "kernel": {"file": _FILE, "name": kernel.name},
        "signature": signature,
        "constexprs": constexprs,
        **({"construct": kernel.construct} if kernel.construct else {}),
        "target": target,
        "options": {**arch, **options},
        "toolchain": {"cute": release()},
        "notes": [*module.notes, *unsupported],
    }
    return document, module.text()


def _bound(call: HostCall) -> Tuple[Any, List[Tuple[inspect.Parameter, Any]]]:
    """The instance whose method is called, None without one; and each parameter that has an argument, with it. Raises
    values.NoText."""
    signature = inspect.signature(call.function)
    parameters = dict(signature.parameters)
    kinds = {parameter.kind for parameter in parameters.values()}
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds
    # The DSL's own arguments are among them: compile_only, no_cache, …
    named = {name: value for name, value in call.named.items() if name in parameters}
    try:
        bound = signature.bind_partial(*call.positional, **named)
    except TypeError as error:
        raise values.NoText("its arguments do not fit: %s" % error) from None
    positional = call.positional
    method = getattr(type(positional[0]), call.function.__name__, None) if positional else None
    is_method = callable(method) and inspect.unwrap(method) is call.function
    pairs = [(parameters[name], value) for name, value in bound.arguments.items()]
    for parameter, _ in pairs:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise values.NoText("%s has arguments without names" % call.function.__qualname__)
    if takes_any and len(named) < len([name for name in call.named if name not in _DSLS]):
        raise values.NoText("%s has arguments without names" % call.function.__qualname__)
    return (positional[0], pairs[1:]) if is_method else (None, pairs)


_DSLS = frozenset({
    "pipeline", "gpu_module_attrs", "no_cache", "no_jit_engine", "compile_only", "compile_to_precompiled_mlir",
    "export_name", "_name_prefix", "options", "trace_finalize_hooks", "is_experimental", "loc", "ip",
})  # fmt: skip
"""Arguments by name that ``cute.compile`` and the DSL take for themselves."""


def _is_constexpr(parameter: inspect.Parameter) -> bool:
    return "Constexpr" in str(parameter.annotation)


def _target(dsl: Any) -> Tuple[str, Dict[str, str]]:
    """The target, and the option ``arch`` where it is not the usual architecture of that."""
    stated = _stated_options(getattr(dsl, "compile_options", None)).get("GPUArch")
    arch = str(stated or getattr(getattr(dsl, "envar", None), "arch", None) or _FALLBACK)
    match = _ARCHITECTURE.match(arch)
    if match is None:
        raise values.NoText("the architecture %s is not known" % arch)
    number = match.group(1)
    # As in harness/worker/cute/settings.py.
    usual = "sm_%s%s" % (number, "a" if int(number) >= 90 else "")
    return "cuda:%s" % number, {} if arch == usual else {"arch": arch}


def _options(compile_options: Any) -> Tuple[Dict[str, Any], List[str]]:
    """Options that differ from the DSL's defaults; and those that a case cannot express."""
    stated: Dict[str, Any] = {}
    unsupported: List[str] = []
    current = _stated_options(compile_options)
    usual = _stated_options(type(compile_options)()) if current else {}
    for name, value in current.items():
        if value == usual.get(name) or name in _NO_EFFECT:
            continue
        if name in _STATED:
            stated[_STATED[name]] = value
        else:
            unsupported.append("option %s: %r" % (name, value))
    return stated, unsupported


def _stated_options(compile_options: Any) -> Dict[str, Any]:
    """Values by the names of options, which are classes from 4.3 on and an argument parser's before."""
    by_class = getattr(compile_options, "options", None)
    if isinstance(by_class, dict):
        return {kind.__name__: option.value for kind, option in by_class.items()}
    parsed = getattr(compile_options, "_options", None)
    return dict(vars(parsed)) if parsed is not None else {}


_releases: List[str] = []


def release() -> str:
    """The DSL's release."""
    if not _releases:
        from importlib import metadata

        _releases.append(metadata.version("nvidia-cutlass-dsl"))
    return _releases[0]


def dsl_of(function: Any) -> Any:
    """The DSL's object of a host function; that of CuTe where the function has none yet."""
    own = getattr(function, "_dsl_object", None)
    kind = getattr(sys.modules.get("cutlass.cutlass_dsl"), "CuTeDSL", None)
    return own if own is not None or kind is None else kind._get_dsl()
