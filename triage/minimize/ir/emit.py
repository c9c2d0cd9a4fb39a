"""``ir/rerun.py``: what shows the failure again on the file beside it, with Triton alone, and the line that does so
with the compiler's own tools."""

from __future__ import annotations

import pprint
import re
import shlex
from importlib import resources
from typing import Any

from triage.minimize.emit import expected
from triage.minimize.ir.kernel import Kernel
from triage.minimize.ir.place import Place, Step
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage

_PIPELINE = re.compile(r'pipeline: "((?:[^"\\]|\\.)*)"')
_TOOLS = {"cuda": ("nvptx64-nvidia-cuda", "sm_"), "hip": ("amdgcn-amd-amdhsa", "")}
"""LLVM's triple, and what stands before the number of an architecture."""
_START_S = 60.0
"""What starting Python and importing Triton may take on top of the pass."""


def pipeline(said: str) -> str | None:
    """The passes, separated by commas, out of a pass manager's own text or of a reproducer."""
    found = _PIPELINE.search(said)
    text = (found[1] if found else said).strip()
    for name in ("builtin.module", "any"):
        if text.startswith(f"{name}(") and text.endswith(")"):
            text = text[len(name) + 1 : -1]
    return text or None


def pass_name(spelling: str | None) -> str | None:
    """The passes without their options."""
    if spelling is None:
        return None
    while (shorter := re.sub(r"\{[^{}]*\}", "", spelling)) != spelling:
        spelling = shorter
    return spelling


def command(place: Place, spelling: str | None, file: str, kernel: Kernel) -> str:
    """The line that shows the failure with the tools of the release."""
    target = kernel.case.target
    triple, prefix = _TOOLS[target.backend]
    arch = f"{prefix}{target.arch}"
    if place.steps:
        return f"triton-opt {file} --pass-pipeline={shlex.quote(f'builtin.module({spelling})')}"
    if place.ending == ".mlir":
        return f"mlir-translate --mlir-to-llvmir {file} | opt -O3 -S -mtriple={triple} -mcpu={arch}"
    if place.stage is Stage.CUBIN:
        return _ptxas(place.call, file) or f"ptxas -v --gpu-name={arch} {file} -o {file}.o"
    if place.stage is Stage.HSACO:
        return f"llvm-mc -triple={triple} -mcpu={arch} -filetype=obj {file} -o {file}.o"
    given = place.call if isinstance(place.call, list) else []
    named = [value if isinstance(value, str) else "" for value in given[:3]]
    triple, arch, features = [*named, *(triple, arch, "")[len(named) :]]
    flags = [f"-{flag}" for flag in given[3]] if len(given) > 3 and isinstance(given[3], list) else []
    parts = ["llc", f"-mtriple={triple}", f"-mcpu={arch}", *([f"-mattr={features}"] if features else []), *flags]
    return " ".join([*parts, file, "-o", "-"])


def _ptxas(call: Any, file: str) -> str | None:
    """The command that Triton ran, on the file beside the script."""
    words = call if isinstance(call, list) else shlex.split(str(call).partition(" 2>")[0]) if call else []
    if not words:
        return None
    said = [file if word.endswith(".ptx") else word for word in map(str, words)]
    if "-o" in said[:-1]:
        said[said.index("-o") + 1] = f"{file}.o"
    return shlex.join(["ptxas", *said[1:]])


def script(place: Place, seen: tuple[Diagnosis, Outcome], kernel: Kernel, file: str, line: str) -> str:
    """The whole script."""
    diagnosis, outcome = seen
    wanted = expected(diagnosis, outcome)
    case, triton = kernel.case, kernel.toolchain.triton
    settings = {
        "HEADLINE": diagnosis.headline,
        "TRITON": triton,
        "PATTERN": wanted.pattern,
        "SIGNAL": wanted.signal,
        "TIMEOUT_S": wanted.timeout_s,
        "PATIENCE_S": (outcome.limit_s or 0.0) + _START_S,
    }
    what = (
        f"the pass {', '.join(step['adder'] for step in place.steps)}" if place.steps else f"stage {place.stage.value}"
    )
    parts = {
        "@BODY@": _passes(place.steps) if place.steps else _stage(place, kernel),
        "@WHAT@": f"Runs {what} of Triton {triton} on {file}, as this does:",
        "@COMMAND@": line,
        "@NEEDS@": f"triton=={triton}",
        "@SETTINGS@": "\n".join(f"_{name} = {_python(value)}" for name, value in settings.items()),
        "@FILE@": file,
        "@GPU@": f"{case.target.backend!r}, {case.target.capability or case.target.arch!r}, {case.target.warp_size}",
    }
    return _filled("rerun", parts)


def _passes(steps: tuple[Step, ...]) -> str:
    lines: list[str] = []
    for step in steps:
        given = [_argument(value, lines) for value in step["arguments"]]
        given += [f"{name}={_argument(value, lines)}" for name, value in step["named"].items()]
        lines.append(f"libtriton.{step['adder']}({', '.join(['_MANAGER', *given])})")
    return _filled("rerun_passes", {"@ADD@": "\n".join(lines)})


def _argument(value: Any, lines: list[str]) -> str:
    """A journal's argument as Python; objects are made by lines of their own."""
    if isinstance(value, dict) and "$dict" in value:
        return "{" + ", ".join(f"{_argument(k, lines)}: {_argument(v, lines)}" for k, v in value["$dict"]) + "}"
    if isinstance(value, dict):
        name = f"_GIVEN_{sum(' = libtriton.' in line for line in lines)}"
        lines.append(f"{name} = libtriton.{value['$new']}()")
        lines += [f"{name}.{key} = {held!r}" for key, held in value["fields"].items()]
        return name
    if isinstance(value, list):
        return "[" + ", ".join(_argument(item, lines) for item in value) + "]"
    return repr(value)


def _stage(place: Place, kernel: Kernel) -> str:
    source = '_SOURCE = open(_FILE, encoding="utf-8").read()'
    parts = {
        "@SOURCE@": _filled("rerun_without_passes", {}) if place.ending == ".mlir" else source,
        "@OPTIONS@": _python(dict(kernel.case.options)),
        "@LANGUAGE@": kernel.case.language.name,
        "@STAGE@": place.stage.value,
    }
    return _filled("rerun_stage", parts)


def _python(value: object) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def _filled(name: str, parts: dict[str, str]) -> str:
    text = resources.files("triage.minimize.ir").joinpath(f"{name}.py.txt").read_text(encoding="utf-8")
    for mark, value in parts.items():
        text = text.replace(mark, value)
    return text.rstrip("\n") + ("\n" if name == "rerun" else "")
