"""A text of IR as a case: the target and the options that the text declares, and those that it leaves open."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.cases.artifacts import reading
from triage.ir.declared import Declared, declared
from triage.model.case import Case, frozen
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.target import Target, UnknownArchitecture

_NEEDED = dict.fromkeys((".source", ".ttir"), ("target", "num_warps", "num_stages"))
"""The options that later stages read, by the ending of the text; other texts need the target only."""
_FIXED = ("num_warps", "num_ctas")
"""Options that a text of a later stage has built in."""


def declared_in(path: Path, top: Path) -> Declared:
    """What the text in a file in ``top`` declares. Raises InputError where it declares no kernel, or an impossible
    target."""
    try:
        text = declared(reading.text(path, top), pipeline=path.suffix == ".mlir")
    except UnknownArchitecture as error:
        raise InputError(f"{path}: {error}") from None
    if not text.name:
        raise InputError(f"{path}: contains no kernel: no function of {path.suffix.removeprefix('.')}")
    return text


def read(path: Path, top: Path, default: Target) -> Case:
    """The case of a text in ``top``. ``default`` is its target where the text declares none. Raises InputError."""
    text = declared_in(path, top)
    # Gluon's front end generates IR with layouts, Triton's generates it without.
    gluon = path.suffix == ".glir" or (path.suffix == ".source" and "num_warps" in text.options)
    case = Case(
        folder=path.parent,
        file=path.name,
        name=text.name,
        signature=frozen(),
        target=text.target or default,
        options=frozen({name: value for name, value in text.options.items() if name != "maxnreg"}),
        language=Language.GLUON if gluon else Language.TRITON,
        boundary=top,
    )
    known = {"target" if text.target else "", *text.options, *(("num_stages",) if gluon else ())}
    return replace(
        case, origin=frozen({"unsaid": [name for name in _NEEDED.get(path.suffix, ("target",)) if name not in known]})
    )


def completed(case: Case) -> Case:
    """A stored case of IR, with the options built into its text. Raises InputError where the case has other ones."""
    text = declared_in(case.path, case.top)
    if text.target is not None and text.target != case.target:
        raise InputError(f"{case.path}: is IR for {text.target} and cannot be compiled for another target")
    if text.backend not in (None, case.target.backend):
        example = "hip:gfx942" if text.backend == "hip" else "cuda:90"
        problem = f"is for {text.backend} and does not name the architecture"
        raise InputError(f"{case.path}: {problem}; give --target, as in {example}")
    for name in _FIXED:
        asked, built = case.options.get(name), text.options.get(name)
        if asked is not None and built is not None and asked != built:
            raise InputError(f"{case.path}: {name} is {built} in the text, and cannot be {asked}; leave it out")
    options = {name: text.options[name] for name in (*_FIXED, "num_stages") if name in text.options}
    return replace(case, options=frozen({**options, **case.options}))


def assumed(case: Case, stated: Any) -> str | None:
    """One line on the options that later stages read and that neither the text nor the command line states."""
    unsaid = [name for name in case.origin.get("unsaid", ()) if name not in stated and name not in case.options]
    if not unsaid:
        return None
    flags = ", ".join(f"--{name.replace('_', '-')}" for name in unsaid)
    values = [str(case.target) if name == "target" else f"the default {name}" for name in unsaid]
    return f"{case.file} does not state {', '.join(unsaid)}: compiled with {', '.join(values)}; change with {flags}"
