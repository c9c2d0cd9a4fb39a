"""Writes the compile that is about to run as a case folder: ``case.json`` and a self-contained ``kernel.py``."""

import json
import sys
from typing import Any, Dict, List, Optional, Set, Tuple

from . import folder, labels, values
from . import origin as origins
from .module import KernelModule, is_gluon, location, python
from .tuples import Split

SCHEMA = "triton-triage/case/1"
_HINT = 16


class _SourceArguments:
    """The arguments of an ASTSource of any release in the form of a case. ``bound``: constants that JSON cannot
    hold."""

    def __init__(self, source: Any) -> None:
        self.names: List[str] = list(source.fn.arg_names)
        self.signature: Dict[str, str] = {}
        self.constexprs: Dict[str, Any] = {}
        self.bound: Dict[str, Any] = {}
        self.split: Dict[str, Split] = {}
        self.divisible: Dict[str, int] = {}
        constants = dict(getattr(source, "constants", None) or {})
        for key, value in constants.items():
            name = self._name(key)
            if name is not None:
                self._constant(name, value)
        divisible = _divisible(source.attrs)
        taken = set(self.names)
        for key, type_ in dict(source.signature).items():
            name = self._name(key)
            if name is None or name in self.constexprs or name in self.bound or type_ == "constexpr":
                continue
            if isinstance(type_, str):
                self._argument(name, type_, (self.names.index(name),) in divisible)
            else:
                self._split(name, Split(name, self.names.index(name), type_, constants, divisible, taken))

    def _constant(self, name: str, value: Any) -> None:
        try:
            self.constexprs[name] = values.in_json(value)
        except values.NoText:
            self.bound[name] = values.unwrapped(value)

    def _argument(self, name: str, type_: str, divisible: bool) -> None:
        self.signature[name] = type_
        if divisible or type_.startswith("*"):
            self.divisible[name] = _HINT if divisible else 1

    def _split(self, name: str, parts: Split) -> None:
        self.split[name] = parts
        for element, value in parts.constants.items():
            self._constant(element, value)
        for element, type_ in parts.types.items():
            self._argument(element, type_, element in parts.divisible)

    def _name(self, key: Any) -> Optional[str]:
        """Name of an argument given by name, index (up to 3.1) or tuple of one index (from 3.3)."""
        if isinstance(key, tuple):
            return self._name(key[0]) if len(key) == 1 else None
        if isinstance(key, int):
            return self.names[key] if key < len(self.names) else None
        return str(key)


def _divisible(attributes: Any) -> Set[Tuple[int, ...]]:
    """Paths of the arguments known to be divisible by 16: an index, and one more for each enclosing tuple."""
    if isinstance(attributes, dict):  # from 3.3 on
        hint = ("tt.divisibility", _HINT)
        return {
            key for key, attributes_ in attributes.items() if any(tuple(attribute) == hint for attribute in attributes_)
        }
    by_property = getattr(attributes, "arg_properties", None)  # 3.2
    if by_property is not None:
        return {(index,) for index in by_property.get("tt.divisibility", ())}
    return {(index,) for index in getattr(attributes, "divisible_by_16", None) or ()}


def capture(frame: Any) -> Optional[str]:
    """Write what ``compile``, whose frame it is, is about to do to a new folder and return its path.

    Returns None when nothing is to be kept. Raises OSError when the folder cannot be written; any other failure is
    recorded in the folder."""
    if not folder.path():
        return None
    local = frame.f_locals
    options, backend = local["options"], local["backend"]
    if not isinstance(options, dict):
        options = vars(options or backend.parse_options({}))
    return folder.write(*_files(local["src"], local["target"], options, backend, frame, local.get("hash")))


def capture_loaded(kernel: Any, frame: Any) -> Optional[str]:
    """Like :func:`capture`, for a CompiledKernel that cannot be loaded."""
    if not folder.path():
        return None
    from triton.compiler.compiler import make_backend

    target, options = kernel.metadata.target, kernel.metadata._asdict()
    return folder.write(*_files(kernel.src, target, options, make_backend(target), frame, kernel.hash))


def _files(
    source: Any, target: Any, options: Dict[str, Any], backend: Any, frame: Any, key: Optional[str]
) -> Tuple[Dict[str, str], str]:
    """The files of the folder, and its label. ``key``: that of Triton's cache, if it was already computed."""
    function = python(source.fn) if hasattr(source, "fn") else None
    origin = {**origins.origin(labels.kernel_name(source), function, frame), "hash": key}
    try:
        document, text = _case(source, target, options, backend, origin)
        label = labels.label(origin["kernel"], document["constexprs"], document["options"])
        return {"case.json": json.dumps(document, indent=1) + "\n", document["kernel"]["file"]: text}, label
    except values.NoText as error:
        origin["problem"] = str(error)
    except Exception as error:
        folder.note()
        origin["problem"] = "%s: %s" % (type(error).__name__, error)
    return {"origin.json": json.dumps(origin, indent=1)}, labels.label(origin["kernel"], {}, {})


def _case(
    source: Any, target: Any, options: Dict[str, Any], backend: Any, origin: Dict[str, Any]
) -> Tuple[Dict[str, Any], str]:
    """The document of the case, and the text of its kernel's file."""
    import triton

    stated, notes = _options(options, backend)
    document: Dict[str, Any] = {
        "schema": SCHEMA,
        "language": "triton",
        "kernel": {},
        "signature": {},
        "constexprs": {},
        "target": "%s:%s" % (target.backend, target.arch),
        "options": stated,
        "toolchain": {"triton": triton.__version__},
        "origin": origin,
    }
    if hasattr(source, "fn"):
        file, arguments, module = "kernel.py", _SourceArguments(source), KernelModule()
        name = module.define(source.fn, in_scope(arguments.bound), arguments.split)
        text, notes = module.text(), [*module.notes, *notes]
        locations = {name_: location(function) for name_, function in module.jitted.items()}
        changed = arguments.bound or arguments.split
        if not notes and not changed and None not in locations.values() and _is_expressible(source):
            origin["functions"] = locations
        document.update(
            language="gluon" if is_gluon(source.fn) else "triton",
            signature=arguments.signature,
            constexprs=arguments.constexprs,
            divisible=arguments.divisible,
        )
    else:  # a compile that starts from a stage's text
        file, name, text = "kernel.%s" % source.ext, labels.kernel_name(source), str(source.src)
    document["kernel"] = {"file": file, "name": name}
    if notes:
        origin["notes"] = notes
    return document, text


def _is_expressible(source: Any) -> bool:
    """Whether a case can express everything that this source decides: not a custom name (``repr=``), nor hints other
    than divisibility by 16."""
    if _names_itself(source.fn):
        return False
    if not isinstance(source.attrs, dict):
        return True
    hint = ("tt.divisibility", _HINT)
    return all(tuple(attribute) == hint for attributes in source.attrs.values() for attribute in attributes)


def _names_itself(kernel: Any) -> bool:
    if hasattr(kernel, "_repr"):
        return kernel._repr is not None
    # Up to 3.2 only the closure of `repr` has it.
    cells = dict(zip(kernel.repr.__code__.co_freevars, kernel.repr.__closure__ or ()))  # noqa: B905 - of Python 3.10
    return "repr" not in cells or cells["repr"].cell_contents is not None


def in_scope(bound: Dict[str, Any]) -> Dict[str, Any]:
    """Arguments that become constants of the module: functions as they are, everything else wrapped as a constexpr."""
    constexpr = sys.modules["triton.language"].constexpr
    return {name: value if values.is_code(value) else constexpr(value) for name, value in bound.items()}


_ALWAYS = ("num_warps", "num_stages")
_WARNS = ("enable_fp_fusion",)


def _options(options: Dict[str, Any], backend: Any) -> Tuple[Dict[str, Any], List[str]]:
    """Options that differ from the back end's defaults, plus those always stated; and those that a case cannot
    express."""
    # Computing this option's default makes 3.9 print a warning, once a process, which belongs to the program.
    fusion = {name: options[name] for name in _WARNS if name in options}
    usual_options = backend.parse_options(dict(fusion))
    fields = type(usual_options).__dataclass_fields__
    language = getattr(sys.modules.get("triton.knobs"), "language", None)
    usual_fusion = {name: getattr(language, "default_fp_fusion", fields[name].default) for name in fusion}
    default = {**vars(usual_options), **usual_fusion}
    stated: Dict[str, Any] = {}
    unsupported: List[str] = []
    for name, default_value in default.items():
        value = options.get(name, default_value)
        if name not in _ALWAYS and (_plain(value) == _plain(default_value) or (value is None and not default_value)):
            continue
        try:
            stated[name] = values.in_json(value)
        except values.NoText:
            unsupported.append("option %s: %r" % (name, value))
    return stated, unsupported


def _plain(value: Any) -> Any:
    """Lists for tuples: metadata come from JSON, which has no tuples."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
