"""What is about to be compiled, as a case folder: ``case.json`` and a ``kernel.py`` of its own."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional, Set, Tuple

from . import deciding, folder, tuples, values
from .module import Module, is_gluon, python
from .place import place_of

SCHEMA = "triton-triage/case/1"
_HINT = 16


class _Arguments:
    """An ASTSource of any release, as a case says it. ``bound``: constants that a case cannot hold."""

    def __init__(self, source: Any) -> None:
        self.names: List[str] = list(source.fn.arg_names)
        self.signature: Dict[str, str] = {}
        self.constexprs: Dict[str, Any] = {}
        self.bound: Dict[str, Any] = {}
        self.notes: List[str] = []
        self.split: Dict[str, tuples.Split] = {}
        self.divisible: Dict[str, int] = {}
        constants = dict(getattr(source, "constants", None) or {})
        for key, value in constants.items():
            name = self._name(key)
            if name is not None:
                self._constant(name, value)
        divisible = _divisible(source.attrs)
        parts = tuples.Source(constants, divisible, self.names)
        for key, type_ in dict(source.signature).items():
            name = self._name(key)
            if name is None or name in self.constexprs or name in self.bound or type_ == "constexpr":
                continue
            if isinstance(type_, str):
                self._argument(name, type_, (self.names.index(name),) in divisible)
            else:
                self._split(tuples.Split(name, self.names.index(name), type_, parts), name)

    def _constant(self, name: str, value: Any) -> None:
        try:
            self.constexprs[name] = values.in_json(value)
        except values.NoText:
            self.bound[name] = values.unwrapped(value)

    def _argument(self, name: str, type_: str, divisible: bool) -> None:
        self.signature[name] = type_
        if divisible or type_.startswith("*"):
            self.divisible[name] = _HINT if divisible else 1

    def _split(self, parts: tuples.Split, name: str) -> None:
        self.split[name] = parts
        for one, value in parts.constants.items():
            self._constant(one, value)
        for one, type_ in parts.types.items():
            self._argument(one, type_, one in parts.divisible)

    def _name(self, key: Any) -> Optional[str]:
        """An argument by name, index (up to 3.1) or tuple of one index (from 3.3 on)."""
        if isinstance(key, tuple):
            return self._name(key[0]) if len(key) == 1 else None
        if isinstance(key, int):
            return self.names[key] if key < len(self.names) else None
        return str(key)


def _divisible(attributes: Any) -> Set[Tuple[int, ...]]:
    """Paths of the arguments that are known to be divisible by 16: an index, and one more for each tuple around it."""
    if isinstance(attributes, dict):  # from 3.3 on
        hint = ("tt.divisibility", _HINT)
        return {key for key, given in attributes.items() if any(tuple(one) == hint for one in given)}
    by_property = getattr(attributes, "arg_properties", None)  # 3.2
    if by_property is not None:
        return {(place,) for place in by_property.get("tt.divisibility", ())}
    return {(place,) for place in getattr(attributes, "divisible_by_16", None) or ()}


def capture(source: Any, target: Any, options: Dict[str, Any], backend: Any, frame: Any) -> Optional[str]:
    """Write what ``compile`` is about to do to a folder of its own; ``frame`` is that of ``compile``. Returns the
    folder's path; None where nothing is to be kept. Raises OSError when it cannot be written; whatever else fails is
    said in the folder."""
    if not folder.place():
        return None
    return folder.write(_files(source, target, options, backend, frame))


def capture_loaded(source: Any, metadata: Any, frame: Any) -> Optional[str]:
    """The same for a kernel that was compiled, now or before, and that cannot be loaded."""
    if not folder.place():
        return None
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
    if not hasattr(source, "fn"):
        return _ir_case(source, target, options, backend, origin)
    arguments, module = _Arguments(source), Module()
    name = module.kernel(source.fn, in_scope(arguments.bound), arguments.split)
    notes = [*arguments.notes, *module.notes]
    given, unsaid = _options(options, backend)
    notes += unsaid
    if notes:
        origin["notes"] = notes
    places = {name: place_of(function) for name, function in module.jitted.items()}
    changed = arguments.bound or arguments.split
    if not notes and not changed and None not in places.values() and _says_all(source):
        origin["functions"] = places
    document = _document(target, given, origin)
    document.update(
        language="gluon" if is_gluon(source.fn) else "triton",
        kernel={"file": "kernel.py", "name": name},
        signature=arguments.signature,
        constexprs=arguments.constexprs,
        divisible=arguments.divisible,
    )
    return {"case.json": json.dumps(document, indent=1) + "\n", "kernel.py": module.text()}


def _ir_case(source: Any, target: Any, options: Dict[str, Any], backend: Any, origin: Dict[str, Any]) -> Dict[str, str]:
    """What is compiled from a stage's text on: that text is the kernel."""
    given, unsaid = _options(options, backend)
    if unsaid:
        origin["notes"] = unsaid
    file = "kernel.%s" % source.ext
    document = _document(target, given, origin)
    document["kernel"] = {"file": file, "name": str(source.name).lstrip("@")}
    return {"case.json": json.dumps(document, indent=1) + "\n", file: str(source.src)}


def _document(target: Any, options: Dict[str, Any], origin: Dict[str, Any]) -> Dict[str, Any]:
    import triton

    return {
        "schema": SCHEMA,
        "language": "triton",
        "kernel": {},
        "signature": {},
        "target": "%s:%s" % (target.backend, target.arch),
        "options": options,
        "toolchain": {"triton": triton.__version__},
        "origin": origin,
    }


def _says_all(source: Any) -> bool:
    """Whether a case has room for everything that this source decides: a name of the kernel's own making
    (``repr=``) and hints other than divisibility by 16 have none."""
    if _names_itself(source.fn):
        return False
    if not isinstance(source.attrs, dict):
        return True
    hint = ("tt.divisibility", _HINT)
    return all(tuple(one) == hint for given in source.attrs.values() for one in given)


def _names_itself(kernel: Any) -> bool:
    if hasattr(kernel, "_repr"):
        return kernel._repr is not None
    # Up to 3.2 it is known to the function alone that asks it.
    cells = dict(zip(kernel.repr.__code__.co_freevars, kernel.repr.__closure__ or ()))  # noqa: B905 - of Python 3.10
    return "repr" not in cells or cells["repr"].cell_contents is not None


def in_scope(bound: Dict[str, Any]) -> Dict[str, Any]:
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
        "environment": deciding.variables(),
    }


def _caller(frame: Any) -> Optional[str]:
    """The line of the program that had the kernel compiled: the innermost that is not Triton's, nor triage's."""
    own = __name__.partition(".")[0]
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if not values.is_triton(module) and str(module).partition(".")[0] != own:
            return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
