"""What Python's own functions and its standard library return."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triage.drafts.cute.symbols import Symbol, SymbolElement
from triage.drafts.cute.values import (
    UNKNOWN,
    ArgumentParser,
    ClassValue,
    CuteTensor,
    ElementType,
    ForeignMethod,
    Guess,
    Namespace,
    ObjectValue,
    TorchTensor,
    TypedNumber,
)
from triage.drafts.host.values import Foreign, Unknown

Invoke = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]
_MOST_LISTED = 4096
_PURE: dict[str, Callable[..., Any]] = {
    "len": len, "abs": abs, "min": min, "max": max, "sum": sum, "round": round, "divmod": divmod, "bool": bool,
    "int": int, "float": float, "str": str, "sorted": sorted, "any": any, "all": all, "pow": pow, "hash": lambda x: 0,
}  # fmt: skip
_MATH = frozenset({"ceil", "floor", "sqrt", "log2", "log", "exp", "gcd", "prod", "lcm", "isqrt", "comb", "pow"})
_LAZY: dict[str, Callable[..., Any]] = {
    "zip": zip, "enumerate": enumerate, "reversed": reversed, "list": list, "tuple": tuple, "set": list,
    "frozenset": list, "iter": list,
}  # fmt: skip
_ENDS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit", "pytest.skip", "pytest.fail"})


class Ends(Exception):
    """The call ends the program, as ``sys.exit`` does."""


def function(name: str, positional: Sequence[Any], words: Mapping[str, Any], invoke: Invoke) -> Any:
    """The result of a function of Python or of its library; nothing for what is not modelled. Raises Ends."""
    if name in _ENDS:
        raise Ends
    last = name.rpartition(".")[2]
    first = positional[0] if positional else UNKNOWN
    if name.startswith("builtins."):
        return _builtin(last, positional, words, invoke)
    if name.startswith("math.") and last in _MATH and _known(positional):
        return _tried(getattr(math, last), positional)
    match name:
        case "argparse.ArgumentParser":
            return ArgumentParser()
        case "os.environ.get" | "os.getenv":
            return positional[1] if len(positional) > 1 else words.get("default")
        case "operator.mul" | "operator.add" if len(positional) == 2 and _known(positional):
            return positional[0] * positional[1] if last == "mul" else positional[0] + positional[1]
        case "itertools.product":
            return _product([list(each) for each in positional]) if all(map(_listed, positional)) else UNKNOWN
        case "typing.cast" if len(positional) > 1:
            return positional[1]
        case "copy.copy" | "copy.deepcopy" | "dataclasses.replace":
            return first
        case "dataclasses.field":
            if "default_factory" in words:
                return invoke(words["default_factory"], (), {})
            return words.get("default", UNKNOWN)
        case "functools.reduce" if len(positional) > 1 and _listed(positional[1]):
            values = [*positional[2:], *positional[1]]
            result = values[0] if values else UNKNOWN
            for value in values[1:]:
                result = invoke(first, (result, value), {})
            return result
    return UNKNOWN


def _builtin(last: str, positional: Sequence[Any], words: Mapping[str, Any], invoke: Invoke) -> Any:
    first = positional[0] if positional else UNKNOWN
    if isinstance(first, Symbol) and last in ("range", "int", "float", "min", "max"):
        first.facts.counted = True
    match last:
        case "range":
            if positional and all(isinstance(value, int) for value in positional):
                return _tried(range, [int(value) for value in positional])
            return UNKNOWN
        case "dict":
            return {**(first if isinstance(first, dict) else {}), **words}
        case "vars":
            return first.attributes if hasattr(first, "attributes") else UNKNOWN
        case "isinstance" if len(positional) == 2:
            return _is_instance(first, positional[1])
        case "map" if len(positional) == 2 and _listed(positional[1]):
            return [invoke(first, (value,), {}) for value in list(positional[1])[:_MOST_LISTED]]
        case "filter" if len(positional) == 2 and _listed(positional[1]):
            return [value for value in positional[1] if invoke(first, (value,), {}) is not False]
        case "print" | "input":
            return None
        case "type":
            return first.cls if isinstance(first, ObjectValue) else UNKNOWN
        case "int" if isinstance(first, TypedNumber):
            return first.value
        case "int" | "abs" if isinstance(first, Guess):
            return first
        case "next" if isinstance(first, list | tuple):
            return first[0] if first else UNKNOWN
        case "len" if isinstance(first, TorchTensor | CuteTensor):
            return first.shape[0] if first.shape else UNKNOWN
        case "min" | "max" if len(positional) > 1 and any(isinstance(value, Guess) for value in positional):
            return Guess(_PURE[last](*positional)) if all(isinstance(each, int) for each in positional) else UNKNOWN
    if last in _LAZY:
        if not positional:
            return () if last == "tuple" else []
        if not all(map(_listed, positional[:1] if last == "enumerate" else positional)):
            return UNKNOWN
        items = _LAZY[last](*positional, **{k: v for k, v in words.items() if k == "start"})
        return tuple(items) if last == "tuple" else list(items)
    if last in _PURE and _known(positional):
        key = words.get("key")
        if key is not None:
            return _tried(sorted, (first,)) if last == "sorted" and not words.get("reverse") else first
        return _tried(_PURE[last], positional)
    return UNKNOWN


def _tried(function: Callable[..., Any], positional: Sequence[Any]) -> Any:
    try:
        result = function(*positional)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
    guessed = any(isinstance(value, Guess) for value in positional)
    return Guess(result) if guessed and type(result) is int else result


def _known(values: Sequence[Any]) -> bool:
    return all(
        _known(list(value))
        if isinstance(value, list | tuple)
        else isinstance(value, int | float | str | dict | range) or value is None
        for value in values
    )


def _listed(value: Any) -> bool:
    return isinstance(value, list | tuple | range | dict | str) and len(value) <= _MOST_LISTED


def _product(lists: list[list[Any]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [()]
    for values in lists:
        rows = [(*row, value) for row in rows for value in values][:_MOST_LISTED]
    return rows


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float,), "str": (str,), "tuple": (tuple,), "list": (list,), "dict": (dict,),
    "bool": (bool,), "Tensor": (TorchTensor, CuteTensor), "Sequence": (list, tuple, str),
    "Iterable": (list, tuple, str, dict),
}  # fmt: skip


def _is_instance(value: Any, of: Any) -> Any:
    if isinstance(of, tuple | list):
        answers = [_is_instance(value, each) for each in of]
        return True if True in answers else UNKNOWN if any(isinstance(each, Unknown) for each in answers) else False
    if isinstance(value, Unknown | Symbol | SymbolElement):
        return UNKNOWN
    if isinstance(of, ClassValue):
        return isinstance(value, ObjectValue) and _derives(value.cls, of)
    if isinstance(of, Foreign) and of.last in _KINDS:
        return isinstance(value, _KINDS[of.last])
    if isinstance(of, ElementType):
        return isinstance(value, TypedNumber) and value.dtype == of.name
    return False if isinstance(value, int | float | str) else UNKNOWN


def _derives(cls: ClassValue, of: ClassValue) -> bool:
    return cls is of or any(isinstance(base, ClassValue) and _derives(base, of) for base in cls.bases)


def method(owner: Any, name: str, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
    """The result of a method of a text, a list or a dictionary."""
    match owner:
        case list():
            if name in ("append", "extend", "insert", "clear", "pop", "remove", "reverse", "sort", "add", "update"):
                return _changed(owner, {"add": "append", "update": "extend"}.get(name, name), positional)
        case dict():
            match name:
                case "get":
                    try:
                        return owner.get(positional[0], positional[1] if len(positional) > 1 else None)
                    except (TypeError, IndexError):
                        return UNKNOWN
                case "items":
                    return list(owner.items())
                case "keys" | "values":
                    return list(owner) if name == "keys" else list(owner.values())
                case "update":
                    owner.update(positional[0] if positional and isinstance(positional[0], dict) else {}, **words)
                    return None
                case "setdefault" | "pop":
                    return _tried(getattr(owner, name), positional)
                case "copy":
                    return dict(owner)
    if isinstance(owner, str | list | tuple) and hasattr(owner, name) and _known(positional):
        return _tried(getattr(owner, name), positional)
    return UNKNOWN


def _changed(owner: list[Any], name: str, positional: Sequence[Any]) -> Any:
    if len(owner) > _MOST_LISTED or (name == "extend" and not all(map(_listed, positional))):
        return UNKNOWN
    try:
        return getattr(owner, name)(*positional)
    except (TypeError, ValueError, IndexError):
        return UNKNOWN


def parser_method(
    parser: ArgumentParser, name: str, positional: Sequence[Any], words: Mapping[str, Any], invoke: Invoke
) -> Any:
    """Methods of ``argparse.ArgumentParser``; its arguments have their defaults, as no command line states any."""
    match name:
        case "add_argument":
            _add_argument(parser, positional, words, invoke)
        case "set_defaults":
            parser.defaults.update(words)
        case "add_argument_group" | "add_mutually_exclusive_group":
            return parser
        case "parse_args" | "parse_intermixed_args":
            return Namespace(dict(parser.defaults))
        case "parse_known_args":
            return Namespace(dict(parser.defaults)), []
        case "error" | "exit":
            raise Ends
    return ForeignMethod(parser, "unknown") if name == "add_subparsers" else None


def _add_argument(parser: ArgumentParser, names: Sequence[Any], words: Mapping[str, Any], invoke: Invoke) -> None:
    texts = [name for name in names if isinstance(name, str)]
    if not texts:
        return
    long = next((name for name in texts if name.startswith("--")), texts[0])
    dest = words.get("dest") or long.lstrip("-").replace("-", "_")
    default = words.get("default")
    action = words.get("action")
    if "default" not in words and action in ("store_true", "store_false"):
        default = action == "store_false"
    elif isinstance(default, str) and "type" in words:
        default = invoke(words["type"], (default,), {})
    elif default is None and not long.startswith("-") and words.get("nargs") not in ("?", "*"):
        choices = words.get("choices")
        default = choices[0] if isinstance(choices, list | tuple) and choices else UNKNOWN
    parser.defaults[dest] = default
