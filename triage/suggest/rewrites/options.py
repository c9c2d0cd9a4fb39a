"""Literals in the source that act as options: a dot's precision, and the options of a loop's iterator.

A constexpr is a parameter of the configuration, and no text has to change for it.
"""

import ast
import re
from collections.abc import Iterator

from triage.source.module import Edit, Module, argument, calls
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import failing_calls, is_method

_PRECISIONS = ("ieee", "bf16x6", "tf32x3", "bf16x3", "tf32")
"""From the most exact to the least: fp32; six and three products of bf16, three of tf32; one of tf32 (docstring of
tl.dot; PTX ISA, tf32 has 10 bits of mantissa, bf16 has 7)."""

_STEERS = (
    "warp_specialize", "num_stages", "flatten", "loop_unroll_factor", "disallow_acc_multi_buffer", "disable_licm",
)  # fmt: skip
"""Options of tl.range: they change how the loop is compiled, and not what it computes (triton/language/core.py)."""

_WARP_SPECIALIZATION = re.compile(r"warp[ _-]?(?:group|speciali)|\bWS|partition|producer", re.IGNORECASE)
_BOTH = re.compile(r"Only one of input_precision and allow_tf32")


def dot_precision_offered(subject: Subject) -> Iterator[Rewritten]:
    """A precision that the message offers, the most exact first, then the fastest; and one precision where a dot
    states two."""
    if _BOTH.search(subject.scene.evidence.text):
        yield from _one_precision(subject)
        return
    offered = [name for name in _PRECISIONS if name in subject.scene.evidence.offered]
    dots = failing_calls(subject, ("dot",))
    for name in dict.fromkeys([*offered[:1], *offered[-1:]]):
        literals = [
            value
            for dot in dots
            if isinstance(value := argument(dot, 3, "input_precision"), ast.Constant)
            and isinstance(value.value, str)
            and value.value not in offered
        ]
        refused = str(literals[0].value) if literals else ""
        yield from subject.rewritten(
            [subject.module.replace(value, f'"{name}"') for value in literals],
            f'ask for input_precision="{name}" in place of "{refused}"',
            f"this back-end has {', '.join(offered)} (triton/backends, allowed_dot_input_precisions)",
            results=f"precision: products of fp32 are taken as {name}, not as {refused}",
        )


def _one_precision(subject: Subject) -> Iterator[Rewritten]:
    dots = failing_calls(subject, ("dot",))
    for left_out, remaining in (("allow_tf32", "input_precision"), ("input_precision", "allow_tf32")):
        edits = [edit for dot in dots for edit in without_keyword(subject.module, dot, left_out)]
        yield from subject.rewritten(
            edits,
            f"leave out {left_out} and keep {remaining}",
            "both name the precision of the product, and only one may",
            results=f"precision: as {remaining} says",
        )


def loop_option_left_out(subject: Subject) -> Iterator[Rewritten]:
    """Loops without an option that is written out in them: the one that the failure speaks of first, each in turn."""
    module = subject.module
    loops = calls(subject.kernel, "range")
    diagnosis = subject.scene.diagnosis
    failure = f"{subject.scene.evidence.text} {diagnosis.pass_name} {diagnosis.file}"
    specialization = bool(_WARP_SPECIALIZATION.search(failure))
    for name in _STEERS if specialization else (*_STEERS[1:], _STEERS[0]):
        edits = [
            edit
            for loop in loops
            for keyword in loop.keywords
            if keyword.arg == name and isinstance(keyword.value, ast.Constant)
            # False and None ask for nothing.
            if keyword.value.value is not False and keyword.value.value is not None
            for edit in without_keyword(module, loop, name)
        ]
        yield from subject.rewritten(
            edits,
            f"leave out {name} in tl.range",
            f"the failure comes of how the loop is compiled; without {name} the compiler chooses for itself",
        )


def static_range_rolled(subject: Subject) -> Iterator[Rewritten]:
    """Loops of the language in place of unrolled ones: the body is compiled once, not once for each turn."""
    module = subject.module
    edits = [
        Edit(end - len("static_range"), end, "range")
        for node in calls(subject.kernel, "static_range")
        if isinstance(node.func, ast.Attribute) and not is_method(module, node)
        for end in [module.span(node.func)[1]]
    ]
    yield from subject.rewritten(
        edits,
        "loop with tl.range in place of tl.static_range",
        "an unrolled loop is compiled turn by turn, and the compiler's work grows with the number of turns",
    )


def without_keyword(module: Module, call: ast.Call, name: str) -> tuple[Edit, ...]:
    """A call without one keyword argument, and without the comma that it leaves behind; nothing where it has none."""
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    arguments.sort(key=lambda argument: (argument.lineno, argument.col_offset))
    for index, keyword in enumerate(arguments):
        if not isinstance(keyword, ast.keyword) or keyword.arg != name:
            continue
        start, end = module.span(keyword)
        if index > 0:
            start = _closed(module, arguments[index - 1])
        elif index + 1 < len(arguments):
            end = module.span(arguments[index + 1])[0]
        return (Edit(start, end, ""),)
    return ()


def _closed(module: Module, node: ast.expr | ast.keyword) -> int:
    """Where an argument ends, with the parentheses around it, which belong to no node."""
    _, end = module.span(node)
    while (rest := module.text[end:].lstrip()).startswith(")"):
        end = len(module.text) - len(rest) + 1
    return end
