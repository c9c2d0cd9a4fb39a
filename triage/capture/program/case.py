"""What is about to be compiled, as a case folder: ``case.json`` and a ``kernel.py`` of its own."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional, Tuple

from . import folder, values
from .module import Module, is_gluon, python

SCHEMA = "triton-triage/case/1"
_DECIDES = ("TRITON_", "MLIR_", "LLVM_", "DISABLE_", "PTXAS_", "USE_IR_LOC", "USE_TTGIR_LOC", "NVPTX_", "AMDGCN_")
_HINT = 16


class _Arguments:
    """An ASTSource of any release, as a case says it. ``bound``: constants that a case cannot hold."""

    def __init__(self, source: Any) -> None:
        self.names: List[str] = list(source.fn.arg_names)
        self.signature: Dict[str, str] = {}
        self.constexprs: Dict[str, Any] = {}
        self.bound: Dict[str, Any] = {}
        self.notes: List[str] = []
        for key, value in dict(getattr(source, "constants", None) or {}).items():
            name = self._name(key)
            if name is None:
                self.notes.append("constant %r: part of a tuple" % (key,))
                continue
            try:
                self.constexprs[name] = values.in_json(value)
            except values.NoText:
                self.bound[name] = values.unwrapped(value)
        for key, type_ in dict(source.signature).items():
            name = self._name(key)
            if name is None or name in self.constexprs or name in self.bound or type_ == "constexpr":
                continue
            if isinstance(type_, str):
                self.signature[name] = type_
            else:
                self.notes.append("argument %s: a tuple" % name)
        divisible = _divisible(source.attrs)
        self.divisible: Dict[str, int] = {}
        for place, name in enumerate(self.names):
            if name in self.signature and (place in divisible or self.signature[name].startswith("*")):
                self.divisible[name] = _HINT if place in divisible else 1

    def _name(self, key: Any) -> Optional[str]:
        """An argument by name, index (up to 3.1) or tuple of one index (from 3.3 on)."""
        if isinstance(key, tuple):
            return self._name(key[0]) if len(key) == 1 else None
        if isinstance(key, int):
            return self.names[key] if key < len(self.names) else None
        return str(key)


def _divisible(attributes: Any) -> List[int]:
    """Indices of the arguments that are known to be divisible by 16."""
    if isinstance(attributes, dict):  # from 3.3 on
        hint = ("tt.divisibility", _HINT)
        return [key[0] for key, given in attributes.items() if any(tuple(one) == hint for one in given)]
    by_property = getattr(attributes, "arg_properties", None)  # 3.2
    if by_property is not None:
        return list(by_property.get("tt.divisibility", ()))
    return list(getattr(attributes, "divisible_by_16", None) or ())


def capture(source: Any, target: Any, options: Dict[str, Any], backend: Any, frame: Any) -> Optional[str]:
    """Write what ``compile`` is about to do to a folder of its own; ``frame`` is that of ``compile``. Returns the
    folder's path. Raises OSError when it cannot be written; whatever else fails is said in the folder."""
    return folder.write(_files(source, target, options, backend, frame))


def capture_loaded(source: Any, metadata: Any, frame: Any) -> Optional[str]:
    """The same for a kernel that was compiled, now or before, and that cannot be loaded."""
    from triton.compiler.compiler import make_backend

    given = metadata._asdict()
    return folder.write(_files(source, metadata.target, given, make_backend(metadata.target), frame))


def _files(source: Any, target: Any, options: Dict[str, Any], backend: Any, frame: Any) -> Dict[str, str]:
    origin = _origin(source, frame)
    try:
        files = _case(source, target, options, backend, origin)
    except values.NoText as error:
        origin["problem"] = str(error)
        return {"origin.json": json.dumps(origin, indent=1)}
    except Exception as error:
        folder.note()
        origin["problem"] = "%s: %s" % (type(error).__name__, error)
        return {"origin.json": json.dumps(origin, indent=1)}
    return files


def _case(source: Any, target: Any, options: Dict[str, Any], backend: Any, origin: Dict[str, Any]) -> Dict[str, str]:
    import triton

    if not hasattr(source, "fn"):
        raise values.NoText("compiled from IR text, of which there is no kernel")
    arguments, module = _Arguments(source), Module()
    name = module.kernel(source.fn, _in_scope(arguments.bound))
    notes = [*arguments.notes, *module.notes]
    given, unsaid = _options(options, backend)
    notes += unsaid
    if notes:
        origin["notes"] = notes
    document = {
        "schema": SCHEMA,
        "language": "gluon" if is_gluon(source.fn) else "triton",
        "kernel": {"file": "kernel.py", "name": name},
        "signature": arguments.signature,
        "constexprs": arguments.constexprs,
        "divisible": arguments.divisible,
        "target": "%s:%s" % (target.backend, target.arch),
        "options": given,
        "toolchain": {"triton": triton.__version__},
        "origin": origin,
    }
    return {"case.json": json.dumps(document, indent=1) + "\n", "kernel.py": module.text()}


def _in_scope(bound: Dict[str, Any]) -> Dict[str, Any]:
    """What an argument becomes that is a constant of the module instead: functions are read as they are, all else only
    as a constexpr."""
    constexpr = sys.modules["triton.language"].constexpr
    return {name: value if values.is_code(value) else constexpr(value) for name, value in bound.items()}


_ALWAYS = ("num_warps", "num_stages")
_WARNS = ("enable_fp_fusion",)


def _options(options: Dict[str, Any], backend: Any) -> Tuple[Dict[str, Any], List[str]]:
    """What is not as the back-end has it by itself, and the two that people always name; and what a case cannot say."""
    # Asked for the default of this one, 3.9 prints a warning, once a process, that is the program's to see.
    fusion = {name: options[name] for name in _WARNS if name in options}
    usual_options = backend.parse_options(dict(fusion))
    fields = type(usual_options).__dataclass_fields__
    language = getattr(sys.modules.get("triton.knobs"), "language", None)
    usual_fusion = {name: getattr(language, "default_fp_fusion", fields[name].default) for name in fusion}
    default = {**vars(usual_options), **usual_fusion}
    given: Dict[str, Any] = {}
    unsaid: List[str] = []
    for name, usual in default.items():
        value = options.get(name, usual)
        if name not in _ALWAYS and (_plain(value) == _plain(usual) or (value is None and not usual)):
            continue
        try:
            given[name] = values.in_json(value)
        except values.NoText:
            unsaid.append("option %s: %r" % (name, value))
    return given, unsaid


def _plain(value: Any) -> Any:
    """Metadata come from JSON, which has no tuples."""
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _origin(source: Any, frame: Any) -> Dict[str, Any]:
    function = python(source.fn) if hasattr(source, "fn") else None
    code = getattr(function, "__code__", None)
    return {
        "tool": "triage run",
        "kernel": str(getattr(source, "name", "")),
        "file": code.co_filename if code else None,
        "line": code.co_firstlineno if code else None,
        "called_from": _caller(frame),
        "command": list(getattr(sys, "orig_argv", None) or sys.argv),
        "directory": os.getcwd(),
        "python": sys.executable,
        "pid": os.getpid(),
        "environment": {name: value for name, value in sorted(os.environ.items()) if _decides(name)},
    }


def _decides(name: str) -> bool:
    return name.startswith(_DECIDES) and not name.startswith("TRITON_TRIAGE_")


def _caller(frame: Any) -> Optional[str]:
    """The line of the program that had the kernel compiled: the innermost that is not Triton's."""
    while frame is not None:
        if not values.is_triton(frame.f_globals.get("__name__")):
            return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
