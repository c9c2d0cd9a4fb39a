"""Arguments of a CuTe host function as the types of a case: what the DSL itself makes of each, read from its text."""

import importlib.util
import inspect
import os
import re
import sys
from typing import Any, List, Optional

from .. import values

_GRAMMAR = os.path.join("harness", "worker", "cute", "grammar.py")
"""The types of a case, below the folder of triage: plain Python, which imports nothing of triage."""
_TENSOR = re.compile(r'!cute\.memref<[^,]+, (\w+)(?:, align<(\d+)>)?, "([^"]+)">\Z')
_POINTER = re.compile(r"!cute\.ptr<[^,]+, (\w+)(?:, align<(\d+)>)?>\Z")
_DYNAMIC = re.compile(r"\?\{([^}]*)\}")
_DIVISOR = re.compile(r"\bdiv=(\d+)")
_STREAMS = ("CUstream", "_FakeStream", "cudaStream_t")
_PYTHONS = {bool: "i1", int: "i32", float: "f32"}
"""What the DSL makes of Python's numbers, where the annotation names no type."""


def _load_grammar() -> Any:
    name = "%s_grammar" % __name__
    triage = os.path.abspath(__file__)
    for _ in range(4):
        triage = os.path.dirname(triage)
    spec = importlib.util.spec_from_file_location(name, os.path.join(triage, _GRAMMAR))
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_grammar = _load_grammar()
_SHORT = {kind: short for short, kind in _grammar.DTYPES.items()}


def type_of(value: Any, annotation: Any) -> Optional[str]:
    """The type of an argument; None for a constant, which is not passed at run time. Raises values.NoText for one
    that a case cannot describe."""
    described = _described(value, annotation)
    return None if described is None else str(described)


def _described(value: Any, annotation: Any) -> Any:
    """A value of the grammar. Classes that are no :class:`type` of the DSL count by their names: each release has
    others."""
    if type(value) in _PYTHONS:
        stated = _SHORT.get(str(getattr(annotation, "__name__", annotation)).rpartition(".")[2])
        return _grammar.Scalar(stated or _PYTHONS[type(value)])
    if value is None or isinstance(value, (str, type)):
        return None
    kind = type(value)
    if values.is_compilers(kind.__module__) and kind.__name__ in _SHORT:
        return _grammar.Scalar(_SHORT[kind.__name__])
    if kind.__name__ in _STREAMS:
        return _grammar.Stream()
    if kind in (tuple, list):
        items = [_described(item, None) for item in value]
        if any(item is None for item in items):
            return None
        return _grammar.Group(tuple(items))
    texts = _texts(value)
    if not texts:
        return None
    if texts == ["!cuda.stream"]:
        return _grammar.Stream()
    tensor, pointer = (_TENSOR.match(texts[0]), _POINTER.match(texts[0])) if len(texts) == 1 else (None, None)
    if tensor:
        space, align, layout = tensor.groups()
        return _parsed("tensor<%s, %s, %s%s>" % (_dtype(value), _layout(layout), space, _aligned(align)), value)
    if pointer:
        return _parsed("ptr<%s, %s%s>" % (_dtype(value), pointer.group(1), _aligned(pointer.group(2))), value)
    raise values.NoText("a %s cannot be an argument of a case: %s" % (_class_name(value), ", ".join(texts)))


def _texts(value: Any) -> Optional[List[str]]:
    """MLIR's types of an argument; None or none for an object of which the DSL makes a constant."""
    adapted = _adapted(value)
    if not hasattr(adapted, "__get_mlir_types__"):
        return None
    ir = sys.modules["cutlass._mlir.ir"]
    with ir.Context() as context, ir.Location.unknown():
        # A context would start as many threads as there are cores.
        context.enable_multithreading(False)
        return [str(type_) for type_ in adapted.__get_mlir_types__()]


def _adapted(value: Any) -> Any:
    """The argument as the DSL takes it: a tensor of a framework by DLPack."""
    if hasattr(value, "__get_mlir_types__"):
        return value
    registry = getattr(sys.modules.get("cutlass.base_dsl.runtime.jit_arg_adapters"), "JitArgAdapterRegistry", None)
    if registry is None:
        return value
    # From 4.5 on it is asked with the argument, before with its type.
    takes_type = "ty" in inspect.signature(registry.get_registered_adapter).parameters
    adapter = registry.get_registered_adapter(type(value) if takes_type else value)
    return adapter(value) if adapter is not None else value


def _dtype(value: Any) -> str:
    value = _adapted(value)
    value = getattr(value, "_tensor", getattr(value, "_arg", value))
    kind = getattr(value, "element_type", None) or getattr(value, "dtype", None)
    name = getattr(kind, "__name__", str(kind))
    if name not in _SHORT:
        raise values.NoText("elements of type %s cannot be in a case" % name)
    return str(_SHORT[name])


def _layout(text: str) -> str:
    """A layout of MLIR in the grammar, which knows divisors and no widths: ``?{i64 div=8}`` is ``?{8}``."""

    def extent(match: Any) -> str:
        divisor = _DIVISOR.search(match.group(1))
        return "?{%s}" % divisor.group(1) if divisor else "?"

    return _DYNAMIC.sub(extent, text)


def _aligned(align: Optional[str]) -> str:
    return ", align=%s" % align if align else ""


def _parsed(text: str, value: Any) -> Any:
    try:
        return _grammar.parse(text)
    except _grammar.BadType as error:
        raise values.NoText("a %s cannot be an argument of a case: %s" % (_class_name(value), error)) from None


def _class_name(value: Any) -> str:
    return "%s.%s" % (type(value).__module__, type(value).__qualname__)
