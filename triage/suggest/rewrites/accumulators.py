"""The accumulator of ``tl.dot``: in the type that its operands are summed in.

8-bit integers are summed in int32, fp64 in fp64 and other floats in fp32 (triton/language/semantic.py, dot). Some
releases check the accumulator against ``out_dtype``, which is fp32 unless it is stated; others build IR that
contradicts itself.
"""

import ast
from collections.abc import Iterator, Mapping

from triage.source.dtypes import canonical_dtype, language_dtype
from triage.source.module import Edit, argument, assignments, called
from triage.suggest.rewrites.operands import DotOperand, operands
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import element, language

_SUMS: Mapping[str, str] = {"i8": "i32", "u8": "i32", "fp64": "fp64"}
"""The type of the sum, by the operands' element type, where it is not the default."""
_DEFAULT = "fp32"
"""The accumulator's type of all other floating-point operands, unless ``out_dtype`` is stated."""
_MAKERS = {"zeros": 1, "full": 2}
"""Functions that take the element type of what they make, and where."""


def dot_accumulator_type(subject: Subject) -> Iterator[Rewritten]:
    """Accumulators started in the type of the sum, and that type stated as ``out_dtype``."""
    tl = language(subject.module)
    edits: list[Edit] = []
    changed: dict[str, None] = {}
    type_ = ""
    if tl is None:
        return
    for operand in operands(subject):
        accumulator = argument(operand.dot, 2, "acc")
        sum_type = "" if operand.converted else _sum_type(subject, operand)
        if called(operand.dot) != "dot" or not isinstance(accumulator, ast.Name) or not sum_type:
            continue
        type_ = f"{tl}.{language_dtype(sum_type)}"
        for start in assignments(subject.kernel, accumulator.id):
            maker = start.value if isinstance(start.value, ast.Call) else None
            at = _MAKERS.get(called(maker)) if maker is not None else None
            dtype = argument(maker, at, "dtype") if maker is not None and at is not None else None
            if dtype is not None and canonical_dtype(subject.module.segment(dtype)) != sum_type:
                edits.append(subject.module.replace(dtype, type_))
                changed[accumulator.id] = None
        if sum_type != _DEFAULT:
            edits += _stated(subject, operand, type_)
    if not edits:
        return
    change = [f"start {' and '.join(changed)} in {type_}"] if changed else []
    change += [f"state out_dtype={type_} in tl.dot"] if len(dict.fromkeys(edits)) > len(changed) else []
    yield from subject.rewritten(
        dict.fromkeys(edits),
        " and ".join(change),
        f"tl.dot sums these operands in {type_}, and the accumulator and out_dtype must be of that type",
        results=f"precision: the product is summed in {type_}" if changed else "",
    )


def _sum_type(subject: Subject, operand: DotOperand) -> str:
    """The type that a dot sums in, "" where the text does not tell."""
    type_ = element(subject, operand.argument(subject))
    stated = any(word.arg == "out_dtype" for word in operand.dot.keywords)
    default = _DEFAULT if type_.startswith(("fp", "bf")) and not stated else ""
    return _SUMS.get(type_, default)


def _stated(subject: Subject, operand: DotOperand, type_: str) -> Iterator[Edit]:
    """``out_dtype`` of the dot: replaced, or added behind its last argument."""
    stated = next((word.value for word in operand.dot.keywords if word.arg == "out_dtype"), None)
    if stated is not None:
        yield from (subject.module.replace(stated, type_),) if subject.module.segment(stated) != type_ else ()
        return
    last = max(
        (*operand.dot.args, *(word.value for word in operand.dot.keywords)),
        key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0),
    )
    yield subject.module.after(last, f", out_dtype={type_}")
