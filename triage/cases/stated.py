"""What the user states of a kernel on the command line or in a call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.frontends.constants import check_constant
from triage.frontends.frontend import Frontend, frontend
from triage.model.case import frozen
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.target import DEFAULT_TARGET, Target

_FLAGS = ("num_warps", "num_stages", "num_ctas")
"""Options that have flags of their own."""

_NOT_A_LITERAL = (ValueError, SyntaxError, MemoryError, RecursionError)
"""Exceptions of ``ast.literal_eval`` for text that is not a literal."""


@dataclass(frozen=True, slots=True)
class StatedValues:
    """What the user states of a kernel's arguments and options, as a case has it. ``divisible`` may name arguments that
    are drafted."""

    signature: Mapping[str, str] = field(default_factory=frozen)
    constexprs: Mapping[str, Any] = field(default_factory=frozen)
    divisible: Mapping[str, int] = field(default_factory=frozen)
    options: Mapping[str, Any] = field(default_factory=frozen)

    def states(self, name: str) -> bool:
        """Whether the type or the value of a parameter is stated."""
        return name in self.signature or name in self.constexprs

    def names(self) -> list[str]:
        """The parameters that it names."""
        return list(dict.fromkeys([*self.signature, *self.constexprs, *self.divisible]))


def stated_values(options: Mapping[str, Any], language: Language = Language.TRITON) -> StatedValues:
    """What the command line states of a kernel. Raises InputError."""
    reader = frontend(language)
    signature = read_signature(options.get("arg") or (), reader)
    constexprs = read_constexprs(options.get("const") or (), reader)
    if both := sorted(set(signature) & set(constexprs)):
        raise InputError(f"--const {both[0]}: also given as --arg; an argument is one or the other")
    divisible = read_divisors(options.get("divisible") or (), reader)
    stated = {name: value for name, value in options.items() if value not in (None, (), [])}
    return StatedValues(*map(frozen, (signature, constexprs, divisible, read_options(stated, reader))))


def targets(text: str | None) -> list[Target]:
    """The targets of ``--target``: one or several, with commas between them. Raises InputError."""
    words = (DEFAULT_TARGET if text is None else text).split(",")
    triton = frontend(Language.TRITON)
    return list(dict.fromkeys(read_target({"target": word.strip()}, Target("cuda", "90"), triton) for word in words))


def read_target(options: Mapping[str, Any], default: Target, language: Frontend) -> Target:
    """``--target``, else the default. Raises InputError."""
    try:
        target = Target.parse(options["target"]) if "target" in options else default
    except InputError as error:
        raise InputError(f"--{error}") from None
    language.check_target(target, lambda problem: InputError(f"--target {target}: {problem}"))
    return target


def read_signature(values: Iterable[str], language: Frontend) -> dict[str, str]:
    """``--arg``. Raises InputError."""
    signature = _pairs("arg", values, "--arg NAME=TYPE, such as --arg a_ptr=*fp16")
    for name, text in signature.items():
        language.check_type(text, lambda problem, name=name: InputError(f"--arg {name}: {problem}"))
    return signature


def read_constexprs(values: Iterable[str], language: Frontend) -> dict[str, Any]:
    """``--const``. Raises InputError."""
    pairs = _pairs("const", values, "--const NAME=VALUE, such as --const BLOCK_M=128")
    return {name: constant(name, text, language) for name, text in pairs.items()}


def constant(name: str, text: str, language: Frontend, option: str = "--const") -> Any:
    """A Python literal, a dtype by name, or an object of the language as text. Raises InputError."""
    if (dtype := language.dtype(text)) is not None:
        return dtype
    if language.object_text.match(text):
        return text
    try:
        value = _with_lists(ast.literal_eval(text))
    except _NOT_A_LITERAL:
        lowered = {"true": "True", "false": "False", "none": "None"}.get(text.lower())
        fix = f"did you mean {name}={lowered}?" if lowered else f"for text write {name}='\"{text}\"'"
        raise InputError(f"{option} {name}={text}: neither a Python literal nor a dtype; {fix}") from None
    check_constant(value, lambda problem: InputError(f"{option} {name}: {problem}"))
    return value


def read_divisors(values: Iterable[str], language: Frontend) -> dict[str, int]:
    """``--divisible``. Raises InputError."""
    divisors = {}
    for name, text in _pairs("divisible", values, "--divisible NAME=16").items():
        value = int(text) if text.isascii() and text.isdigit() else text
        language.check_divisor(value, lambda problem, name=name: InputError(f"--divisible {name}: {problem}"))
        divisors[name] = int(value)
    return divisors


def read_options(options: Mapping[str, Any], language: Frontend) -> dict[str, Any]:
    """``--num-warps`` and the like, and ``--option``. Raises InputError."""
    compiled_with = {name: options[name] for name in _FLAGS if name in options}
    for name, text in _pairs("option", options.get("option", ()), "--option NAME=VALUE").items():
        if name in compiled_with:
            raise InputError(f"--option {name}: also given as {_flag(name)}")
        compiled_with[name] = option_value(name, text, "--option")
    language.check_options(
        compiled_with, lambda where, problem: InputError(f"{_flag(where.partition('.')[2])}: {problem}")
    )
    return compiled_with


def option_value(name: str, text: str, option: str) -> Any:
    """The value of a back-end's option: a Python literal, else the text itself. Raises InputError."""
    try:
        value = _with_lists(ast.literal_eval(text))
    except _NOT_A_LITERAL:
        value = text
    check_constant(value, lambda problem: InputError(f"{option} {name}: {problem}"))
    return value


def _pairs(option: str, values: Iterable[str], example: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or not value:
            raise InputError(f"--{option} {text!r}: write {example}")
        if name in pairs:
            raise InputError(f"--{option} {name}: given twice")
        pairs[name] = value
    return pairs


def _with_lists(value: Any) -> Any:
    """Tuples as lists, as in JSON; the worker converts them back."""
    return [_with_lists(item) for item in value] if isinstance(value, tuple | list) else value


def _flag(option: str) -> str:
    """The flag that states an option."""
    return f"--{option.replace('_', '-')}" if option in _FLAGS else f"--option {option}"
