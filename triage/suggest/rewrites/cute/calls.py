"""Calls and declarations: arguments that are missing or too many, constants without their annotation, printed values,
texts chosen with ``or``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from triage.source.functions import parameters
from triage.source.module import Edit, called, calls
from triage.suggest.cute.elements import is_dtype
from triage.suggest.rewrites.cute.subject import CuteSubject
from triage.suggest.rewrites.recipe import Rewritten

_PRINTED = ("printf", "print_tensor", "print")


def arguments_completed(subject: CuteSubject) -> Iterator[Rewritten]:
    """Arguments that the call of a function lacks, by the names that the caller has; what is too much left out."""
    for statement in subject.failing:
        for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
            function = next((each for each in subject.functions if each.name == called(call)), None)
            if function is not None and not any(isinstance(value, ast.Starred) for value in call.args):
                yield from _completed(subject, call, function)


def _completed(subject: CuteSubject, call: ast.Call, function: ast.FunctionDef) -> Iterator[Rewritten]:
    names = [parameter.arg for parameter in parameters(function) if parameter.arg != "self"]
    defaults = len(function.args.defaults)
    needed = names[: len(names) - defaults]
    passed = {*names[: len(call.args)], *(word.arg for word in call.keywords)}
    missing = [name for name in needed if name not in passed]
    module = subject.module
    if missing:
        caller = subject.function_of(call)
        known = _bound(caller) if caller is not None else set()
        values = {name: value for name in missing if (value := _value(name, known, call)) is not None}
        if len(values) < len(missing):
            return
        in_order = names[len(call.args) :][: len(missing)] == missing and not call.keywords
        texts = [values[name] if in_order else f"{name}={values[name]}" for name in missing]
        last = [*call.args, *(word.value for word in call.keywords)]
        text = ", ".join(texts)
        end = module.span(call)[1] - 1
        edit = module.after(last[-1], f", {text}") if last else Edit(end, end, text)
        why = f"{function.name} takes {', '.join(missing)}, and the call does not pass it"
        yield from subject.rewritten([edit], f"pass {', '.join(missing)} to {function.name}", why)
    elif len(call.args) > len(names) and function.args.vararg is None and names:
        start, end = module.span(call.args[len(names) - 1])[1], module.span(call.args[-1])[1]
        why = f"{function.name} takes {len(names)} arguments"
        yield from subject.rewritten([Edit(start, end, "")], f"leave out what {function.name} does not take", why)


def _value(name: str, known: set[str], call: ast.Call) -> str | None:
    if name in known:
        return name
    used = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    alike = [other for other in known - used if other.lower().strip("_") == name.lower().strip("_")]
    return alike[0] if len(alike) == 1 else None


def _bound(function: ast.FunctionDef) -> set[str]:
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {parameter.arg for parameter in parameters(function)}


def constexpr_annotated(subject: CuteSubject) -> Iterator[Rewritten]:
    """Parameters that are texts, flags or types while compiling, annotated with ``cutlass.Constexpr``."""
    cutlass = subject.alias("cutlass")
    values = subject.scene.case.constexprs
    constant = {name for name, value in values.items() if value is None or isinstance(value, str | bool | list)}
    constant |= {name for name, value in values.items() if is_dtype(value)}
    named = set(re.findall(r"\w+", subject.text))
    edits = [
        subject.module.after(parameter, f": {cutlass}.Constexpr")
        for function in subject.functions
        if function.decorator_list
        for parameter in parameters(function)
        if parameter.annotation is None and (parameter.arg in constant or parameter.arg in values.keys() & named)
    ]
    if cutlass is not None:
        why = "a text, a flag or a type is not a value of the GPU: only a Constexpr may hold it"
        yield from subject.rewritten(edits, f"annotate constants with {cutlass}.Constexpr", why)


def wide_print(subject: CuteSubject) -> Iterator[Rewritten]:
    """Elements are printed as Float32."""
    cutlass = subject.alias("cutlass")
    edits = []
    for statement in subject.failing:
        for call in calls(statement, *_PRINTED):
            for value in call.args:
                if isinstance(value, ast.Subscript | ast.Name | ast.BinOp) and cutlass is not None:
                    text = f"{subject.module.operand(value)}.to({cutlass}.Float32)"
                    edits.append(subject.module.replace(value, text))
    why = "printf takes numbers of 32 bits and wider on every release; Float32 holds every value of a narrower one"
    yield from subject.rewritten(edits, "print as Float32", why)


def stored_as_element(subject: CuteSubject) -> Iterator[Rewritten]:
    """What is stored into a tensor, converted to its element type."""
    edits = []
    for statement in subject.failing:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value):
                edits.append(subject.module.replace(value, f"{name}.element_type({subject.module.segment(value)})"))
    why = "a store converts nothing by itself"
    yield from subject.rewritten(
        edits,
        "convert what is stored to the element type",
        why,
        results="precision: the value is rounded as it is stored",
    )


def text_chosen(subject: CuteSubject) -> Iterator[Rewritten]:
    """``a or b`` of texts as a conditional expression."""
    edits = []
    module = subject.module
    for statement in subject.failing:
        for node in ast.walk(statement):
            match node:
                case ast.BoolOp(op=ast.Or(), values=[first, second]):
                    text = f'{module.operand(first)} if {module.operand(first)} != "" else {module.operand(second)}'
                    edits.append(module.replace(node, f"({text})"))
                case ast.BoolOp(op=ast.And(), values=[first, second]):
                    text = f'{module.operand(second)} if {module.operand(first)} != "" else {module.operand(first)}'
                    edits.append(module.replace(node, f"({text})"))
    why = "and, or in a jitted body become operations on values of the GPU, which texts are not"
    yield from subject.rewritten(edits, "choose the text with if and else", why)
