"""Combines what is known of a kernel into cases, one for each configuration; every value keeps its basis. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from triage.cases.stated import StatedValues
from triage.drafts.model import Basis, JitFunction, Parameter, Value
from triage.harness.description import KernelDescription
from triage.model.case import Case, frozen
from triage.model.errors import InputError

STATED = frozenset({Basis.USER, Basis.CONFIG, Basis.HEURISTIC, Basis.LAUNCH, Basis.ANNOTATION, Basis.DEFAULT})
"""What a source or the user states. Values on any other basis are guesses, though good ones."""
DRAFTED, CONFIGURATION, SOURCE, UNCLEAR = "drafted", "configuration", "source", "unclear"
"""Fields of a drafted case's ``origin``."""
_UNREMARKABLE = {"num_ctas": 1}
"""Options of every configuration that are not worth a mention."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One configuration of a kernel. ``values``: of every parameter; ``options``: of the back-end. ``configuration``:
    what distinguishes it from the kernel's other configurations; empty where there is only one."""

    function: JitFunction
    values: Mapping[str, Value]
    options: Mapping[str, Value]
    divisible: Mapping[str, int]
    configuration: str = ""

    @property
    def label(self) -> str:
        """Kernel and configuration."""
        return f"{self.function.name}[{self.configuration}]" if self.configuration else self.function.name

    def changed(self, changes: Mapping[str, Value]) -> Draft:
        """With other values of some parameters."""
        return replace(self, values={**self.values, **changes})

    def drops(self, option: str) -> bool:
        """Whether an option may be left out, as a source states it and not the user."""
        return option in self.options and self.options[option].basis is not Basis.USER

    def without_option(self, option: str) -> Draft:
        """Without an option that only other back-ends have: sources state those of all their targets."""
        return replace(self, options={name: value for name, value in self.options.items() if name != option})

    def is_argument(self, name: str) -> bool:
        """Whether a parameter is passed at run time, and not a constant of the compile."""
        value = self.values[name]
        return not value.constant and not self._constexpr(name) and isinstance(value.value, str)

    def drafted(self) -> dict[str, str]:
        """The drafted values by name: value and where it comes from."""
        values = {**self.values, **self.options}
        return {name: self._text(name, value) for name, value in values.items() if value.basis is not Basis.USER}

    def case(self, base: Case) -> Case:
        """The case; ``base`` has kernel, target and toolchain."""
        signature = {name: value.value for name, value in self.values.items() if self.is_argument(name)}
        of_constructor = {parameter.name for parameter in self.function.parameters if parameter.constructor}
        constants = {name: value.value for name, value in self.values.items() if name not in signature}
        origin: dict[str, Any] = {
            DRAFTED: self.drafted(),
            SOURCE: {"file": str(self.function.file), "line": self.function.line},
            **({CONFIGURATION: self.configuration} if self.configuration else {}),
        }
        return replace(
            base,
            signature=frozen(signature),
            constexprs=frozen({name: value for name, value in constants.items() if name not in of_constructor}),
            construct=frozen({name: value for name, value in constants.items() if name in of_constructor}),
            divisible=frozen({name: divisor for name, divisor in self.divisible.items() if name in signature}),
            options=frozen({name: value.value for name, value in self.options.items()}),
            language=self.function.language,
            origin=frozen(origin),
        )

    def _text(self, name: str, value: Value) -> str:
        divisor = self.divisible.get(name)
        known = {16: " divisible by 16", 1: " not aligned"}.get(divisor, "") if divisor is not None else ""
        return f"{value.value}{known}, {value.where}"

    def _constexpr(self, name: str) -> bool:
        return any(parameter.constexpr for parameter in self.function.parameters if parameter.name == name)


def drafts(function: JitFunction, stated: StatedValues, described: KernelDescription | None = None) -> list[Draft]:
    """The configurations of a kernel, in the order of its autotuner, or of its launches. ``described``: what its
    decorators say, where a worker has asked them. Raises InputError where a parameter has no value."""
    values = {
        parameter.name: _stated(stated, parameter) or _best(parameter, described)
        for parameter in function.parameters
        if parameter.candidates or stated.states(parameter.name)
    }
    options = dict(function.options) | {
        name: Value(value, Basis.USER, "given") for name, value in stated.options.items()
    }
    divisible = {
        parameter.name: parameter.divisible
        for parameter in function.parameters
        if parameter.divisible is not None
        and values[parameter.name].basis is not Basis.USER
        and not _is_default(parameter.divisible, values[parameter.name])
    } | dict(stated.divisible)
    plain = Draft(function, values, options, divisible)
    if function.launched_with:
        return _distinct([_launched(plain, passed) for passed in function.launched_with])
    _check_complete(plain)
    if described is None:
        return [plain]
    configured = [_configured(plain, stated, described, number) for number in range(len(described.configurations))]
    return _distinct(configured) if configured else [plain]


def _distinct(configured: list[Draft]) -> list[Draft]:
    """The drafts without those that are compiled alike, each named after the values in which it differs."""
    return _labelled(list({_identity(draft): draft for draft in reversed(configured)}.values())[::-1])


def _launched(plain: Draft, passed: Mapping[str, Value]) -> Draft:
    """The draft of one launch: what it leaves out, and has a default, stays the default."""
    values = {}
    for parameter in plain.function.parameters:
        name = parameter.name
        if name in plain.values and plain.values[name].basis is Basis.USER:
            values[name] = plain.values[name]
        elif name in passed:
            values[name] = passed[name]
        elif not parameter.has_default and name in plain.values:
            # Of another launch: the two need not fit each other.
            values[name] = replace(plain.values[name], exact=False)
        elif default := [each for each in parameter.candidates if each.basis in (Basis.ANNOTATION, Basis.DEFAULT)]:
            values[name] = default[0]
    draft = replace(plain, values=values)
    _check_complete(draft)
    return draft


def _check_complete(draft: Draft) -> None:
    """Raises InputError where a parameter has no value, with what to write."""
    lacking = [each for each in draft.function.parameters if each.name not in draft.values and not each.has_default]
    if lacking:
        first = lacking[0]
        names = f"{first.name} of {draft.function.name}"
        names += f", and {', '.join(each.name for each in lacking[1:])}" if len(lacking) > 1 else ""
        fix = f"--const {first.name}=VALUE" if first.constexpr else f"--arg {first.name}=TYPE"
        raise InputError(f"{names}: no value: {first.unknown}; write {fix}")


def _stated(stated: StatedValues, parameter: Parameter) -> Value | None:
    """The value of a parameter, if the user states it."""
    name = parameter.name
    if not stated.states(name):
        return None
    return Value({**stated.constexprs, **stated.signature}[name], Basis.USER, "given")


def _best(parameter: Parameter, described: KernelDescription | None) -> Value:
    """The best candidate, unless the kernel itself has a default that no source shows."""
    best = parameter.best
    if described is None or best.basis.rank <= Basis.DEFAULT.rank:
        return best
    for own in described.parameters:
        if own.name == parameter.name and own.constexpr and own.has_default and not own.default_problem:
            return Value(own.default, Basis.DEFAULT, "default")
    return best


def _is_default(divisor: int, value: Value) -> bool:
    """Whether that is a case's default: pointers count as divisible by 16, other arguments do not."""
    return divisor == (16 if str(value.value).startswith("*") else 1)


def _configured(plain: Draft, stated: StatedValues, described: KernelDescription, number: int) -> Draft:
    configuration, of = described.configurations[number], len(described.configurations)
    where = f"autotune configuration {number + 1} of {of}" if of > 1 else "autotune configuration"
    tuned = {name: Value(value, Basis.CONFIG, where) for name, value in configuration.arguments.items()}
    computed = {name: Value(value, Basis.HEURISTIC, "heuristic") for name, value in configuration.heuristics.items()}
    options = {name: Value(value, Basis.CONFIG, where) for name, value in configuration.options.items()}
    blocks = {
        name: Value(_with_block(str(plain.values[name].value), block), Basis.CONFIG, f"pre_hook of {where}")
        for name, block in configuration.blocks.items()
        if name in plain.values
    }
    known = {
        name: value
        for name, value in {**tuned, **computed, **blocks}.items()
        if name in plain.values and plain.values[name].basis is not Basis.USER
    }
    chosen = {
        name: value
        for name, value in options.items()
        if name not in stated.options and _UNREMARKABLE.get(name) != value.value
    }
    return replace(plain, values={**plain.values, **known}, options={**plain.options, **chosen})


def _with_block(type_: str, block: tuple[int, ...]) -> str:
    """The type of a descriptor that loads and stores such a block, of the elements of another type."""
    element = type_.removeprefix("tensordesc<").partition("[")[0].lstrip("*")
    return f"tensordesc<{element}{list(block)}>"


def _identity(draft: Draft) -> str:
    """Equal for configurations that are compiled alike, as those are that differ only in what the user gives."""
    return repr([(name, value.value) for name, value in {**draft.values, **draft.options}.items()])


def _labelled(configured: list[Draft]) -> list[Draft]:
    """Each named after the values in which they differ."""
    if len(configured) == 1:
        return configured
    names = dict.fromkeys(name for draft in configured for name in (*draft.values, *draft.options))
    tables = [{**draft.values, **draft.options} for draft in configured]
    differing = [
        name for name in names if len({repr(table[name].value) if name in table else "" for table in tables}) > 1
    ]
    return [
        replace(draft, configuration=" ".join(f"{name}={table[name].value}" for name in differing if name in table))
        for draft, table in zip(configured, tables, strict=True)
    ]
