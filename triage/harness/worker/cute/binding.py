"""From a case to a call of ``cute.compile``: the host function or object, and its arguments by name."""

import inspect
from typing import Any, Dict, List, NamedTuple

from .. import adapter, values
from . import arguments, grammar


class Call(NamedTuple):
    """What is given to ``cute.compile``."""

    function: Any
    positional: List[Any]
    named: Dict[str, Any]


def bind(kernel: Any, case: Dict[str, Any]) -> Call:
    """The call of a case. A class is constructed with the case's ``construct``. Raises BadCase, BadValue, BadType, and
    what the constructor raises."""
    name = getattr(kernel, "__name__", "kernel")
    if isinstance(kernel, type):
        signature = inspect.signature(kernel)
        known = list(signature.parameters)
        _refuse_unknown(case["construct"], known, name)
        missing = [
            each.name
            for each in signature.parameters.values()
            if _is_needed(each) and each.name not in case["construct"]
        ]
        if missing:
            raise adapter.BadCase("argument %s of %s has no value (--const %s=VALUE)" % (missing[0], name, missing[0]))
        function = kernel(**{key: values.decode(value) for key, value in case["construct"].items()})
        parameters = list(inspect.signature(function.__call__).parameters.values())
    elif case["construct"]:
        raise adapter.BadCase("%s is a function: it takes no construct" % name)
    else:
        function, parameters = kernel, list(inspect.signature(kernel).parameters.values())
    return Call(function, *_arguments(parameters, case, name))


def _refuse_unknown(stated: Any, known: List[str], name: str) -> None:
    unknown = [key for key in stated if key not in known]
    if unknown:
        raise adapter.BadCase("%s is not an argument of %s(%s)" % (unknown[0], name, ", ".join(known)))


def _is_needed(parameter: inspect.Parameter) -> bool:
    variadic = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and not variadic


def _arguments(parameters: List[inspect.Parameter], case: Dict[str, Any], name: str) -> Any:
    types, constants = case["signature"], case["constexprs"]
    variadic = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    if not variadic:
        _refuse_unknown([*types, *constants], [parameter.name for parameter in parameters], name)
    maker = arguments.Arguments()
    positional: List[Any] = []
    named: Dict[str, Any] = {}
    left_out = False
    for parameter in parameters:
        if parameter.name in types:
            value = maker.make(grammar.parse(types[parameter.name]))
        elif parameter.name in constants:
            value = values.decode(constants[parameter.name])
        elif not _is_needed(parameter):
            left_out = True
            continue
        else:
            constant = "Constexpr" in str(parameter.annotation)
            hint = "--const %s=VALUE" if constant else "--arg %s=TYPE"
            raise adapter.BadCase(
                "argument %s of %s has no %s (%s)"
                % (parameter.name, name, "value" if constant else "type", hint % parameter.name)
            )
        if left_out or parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            positional.append(value)
    return positional, named
