"""Failures whose cause the front end's message settles: no configuration is at fault, so none is searched.

An annotation is missing, a function does not take an argument, a name is not in this release. The fix is a line of the
kernel: a rewrite where a recipe makes it, else words that name the line. Other releases are tried where they may differ
in it, and so is the other way of a flag that decides whether the line is compiled at all.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from triage.model.report import Suggestion, SuggestionKind
from triage.suggest.scene import Scene


@dataclass(frozen=True, slots=True)
class SourceFix:
    """``change`` is what to do, ``why`` why that is the cause. ``releases``: another release may take the line as it
    is."""

    change: str
    why: str
    releases: bool = False


_Rule: TypeAlias = Callable[[Scene, re.Match[str]], SourceFix]


def frontend_fix(scene: Scene) -> SourceFix | None:
    """The fix of a failure of the front end; None where the message leaves the cause open."""
    if not scene.evidence.frontend:
        return None
    for pattern, rule in _RULES:
        if match := pattern.search(scene.evidence.text):
            return rule(scene, match)
    return None


def by_rewrite_alone(scene: Scene) -> bool:
    """Types that do not go together in one expression: where a recipe rewrites the expression, that is the fix."""
    return _TYPES.search(scene.evidence.text) is not None


def as_advice(fix: SourceFix) -> Suggestion:
    """The fix as advice: nothing was compiled."""
    note = f"{fix.change}: {fix.why}"
    return Suggestion({"source": fix.change}, SuggestionKind.SOURCE, 2.0, None, note, verified=False, why=fix.why)


_TYPES = re.compile(
    r"Expected dtype \[|must be same dtype|must have the same dtype|assert acc\.type|accumulator dtype"
    r"|are cast incompatible|value type matches ptr type"
)


def _line(scene: Scene) -> str:
    return f" on line {scene.evidence.lines[0]}" if scene.evidence.lines else ""


def _annotation(scene: Scene, _match: re.Match[str]) -> SourceFix:
    scalars = [
        name
        for name, type_ in scene.case.signature.items()
        if name in scene.on_lines and not str(type_).startswith(("*", "tensordesc<"))
    ]
    why = "what sizes a block or a static loop must be known when the kernel is compiled"
    if scalars:
        names = ", ".join(scalars)
        return SourceFix(f"annotate {names} of {scene.case.name} with tl.constexpr: it is read{_line(scene)}", why)
    return SourceFix(f"use a tl.constexpr{_line(scene)}", why)


def _argument(scene: Scene, match: re.Match[str]) -> SourceFix:
    function, argument = match["function"], match["argument"]
    by = f"{function} of this release" if function else "the function called there"
    return SourceFix(
        f"leave out {argument}{_line(scene)}", f"{by} does not take an argument of that name", releases=True
    )


def _missing(scene: Scene, match: re.Match[str]) -> SourceFix:
    return SourceFix(f"pass {match['argument']}{_line(scene)}", "the function called there needs it", releases=True)


def _arguments(scene: Scene, _match: re.Match[str]) -> SourceFix:
    why = "the function called there takes other arguments in this release"
    return SourceFix(f"correct the arguments of the call{_line(scene)}", why, releases=True)


def _attribute(scene: Scene, match: re.Match[str]) -> SourceFix:
    name = f"{match['module']}.{match['name']}"
    return SourceFix(f"replace {name}{_line(scene)}", f"this release has no {name}", releases=True)


def _undefined(scene: Scene, match: re.Match[str]) -> SourceFix:
    name = match["name"]
    return SourceFix(
        f"define {name} before line {scene.evidence.lines[0]}" if scene.evidence.lines else f"define {name}",
        f"nothing gives {name} a value: a parameter, a local, or a compile-time constant of the module can",
    )


def _pointer(scene: Scene, match: re.Match[str]) -> SourceFix:
    return SourceFix(
        f"address memory through a pointer{_line(scene)}",
        f"{match['function']} takes a pointer or a block of pointers, and gets {match['type'].strip()}",
    )


_RULES: tuple[tuple[re.Pattern[str], _Rule], ...] = (
    (
        re.compile(
            r"arange's arguments must be of type tl\.constexpr|Shape element \d+ must have type `constexpr"
            r"|used as tl\.static_range \w+ value is not a constexpr"
        ),
        _annotation,
    ),
    (re.compile(r"(?:(?P<function>\w+)\(\) )?got an unexpected keyword argument '(?P<argument>\w+)'"), _argument),
    (
        re.compile(r"missing (?:\d+ required positional arguments?|a required argument): '(?P<argument>\w+)'"),
        _missing,
    ),
    (re.compile(r"takes (?:from )?\d+ .*?positional arguments? but|got multiple values for argument"), _arguments),
    (re.compile(r"module '(?P<module>triton[\w.]*)' has no attribute '(?P<name>\w+)'"), _attribute),
    (re.compile(r"NameError\W+(?:name ')?(?P<name>\w+)'? is not defined"), _undefined),
    (re.compile(r"Unsupported ptr type (?P<type>.+?) in `(?P<function>[\w.]+)`"), _pointer),
)
"""By the words of the compiler, 3.0 to 3.9 (``semantic.py``, ``code_generator.py``) and of Python's own calls."""
