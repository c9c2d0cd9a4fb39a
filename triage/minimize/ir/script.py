"""Writes ``ir/rerun.py``, which shows the failure on the file beside it with Triton alone, and the command line that
shows it with the compiler's own tools."""

import shlex
from typing import Any

from triage.minimize.ir.failure_point import FailurePoint, RecordedPass
from triage.minimize.ir.replays import Replays
from triage.minimize.reproducer import assignments, expected, filled, gpu, patience_s, python
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage

_TOOLS = {"cuda": ("nvptx64-nvidia-cuda", "sm_"), "hip": ("amdgcn-amd-amdhsa", "")}
"""LLVM's triple, and the prefix of an architecture's number."""


def command(point: FailurePoint, spelling: str | None, file: str, case: Case) -> str:
    """The command line that shows the failure with the release's own tools."""
    target = case.target
    triple, prefix = _TOOLS[target.backend]
    arch = f"{prefix}{target.arch}"
    if point.passes:
        return f"triton-opt {file} --pass-pipeline={shlex.quote(f'builtin.module({spelling})')}"
    if point.ending == ".mlir":
        return f"mlir-translate --mlir-to-llvmir {file} | opt -O3 -S -mtriple={triple} -mcpu={arch}"
    if point.stage is Stage.CUBIN:
        return _ptxas(point.call, file) or f"ptxas -v --gpu-name={arch} {file} -o {file}.o"
    if point.stage is Stage.HSACO:
        return f"llvm-mc -triple={triple} -mcpu={arch} -filetype=obj {file} -o {file}.o"
    call = point.call if isinstance(point.call, list) else []
    named = [value if isinstance(value, str) else "" for value in call[:3]]
    triple, arch, features = [*named, *(triple, arch, "")[len(named) :]]
    flags = [f"-{flag}" for flag in call[3]] if len(call) > 3 and isinstance(call[3], list) else []
    parts = ["llc", f"-mtriple={triple}", f"-mcpu={arch}", *([f"-mattr={features}"] if features else []), *flags]
    return " ".join([*parts, file, "-o", "-"])


def _ptxas(call: Any, file: str) -> str | None:
    """The command that Triton ran, applied to the file beside the script."""
    words = call if isinstance(call, list) else shlex.split(str(call).partition(" 2>")[0]) if call else []
    if not words:
        return None
    parts = [file if word.endswith(".ptx") else word for word in map(str, words)]
    if "-o" in parts[:-1]:
        parts[parts.index("-o") + 1] = f"{file}.o"
    return shlex.join(["ptxas", *parts[1:]])


def script(point: FailurePoint, seen: tuple[Diagnosis, Outcome], replays: Replays, file: str, line: str) -> str:
    """The text of ``rerun.py``. ``seen``: the failure that it looks for; ``line``: the command line in its header."""
    diagnosis, outcome = seen
    case, triton = replays.case, replays.toolchain.release
    settings = {
        "HEADLINE": diagnosis.headline,
        "TRITON": triton,
        **expected(diagnosis, outcome).settings(),
        "PATIENCE_S": patience_s(outcome),
    }
    adders = ", ".join(pass_["adder"] for pass_ in point.passes)
    part = f"the pass {adders}" if adders else f"stage {point.stage.value}"
    parts = {
        "@BODY@": _passes(point.passes) if point.passes else _stage(point, case),
        "@WHAT@": f"Runs {part} of Triton {triton} on {file}, as this does:",
        "@COMMAND@": line,
        "@NEEDS@": f"triton=={triton}",
        "@SETTINGS@": assignments(settings),
        "@FILE@": file,
        "@GPU@": gpu(case),
    }
    return filled("ir/rerun.py.txt", parts) + "\n"


def _passes(passes: tuple[RecordedPass, ...]) -> str:
    lines: list[str] = []
    for pass_ in passes:
        arguments = [_argument(value, lines) for value in pass_["arguments"]]
        arguments += [f"{name}={_argument(value, lines)}" for name, value in pass_["named"].items()]
        lines.append(f"libtriton.{pass_['adder']}({', '.join(['_MANAGER', *arguments])})")
    return filled("ir/rerun_passes.py.txt", {"@ADD@": "\n".join(lines)})


def _argument(value: Any, lines: list[str]) -> str:
    """A recorded argument as Python source; objects are created by lines of their own."""
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


def _stage(point: FailurePoint, case: Case) -> str:
    source = '_SOURCE = open(_FILE, encoding="utf-8").read()'
    parts = {
        "@SOURCE@": filled("ir/rerun_without_passes.py.txt", {}) if point.ending == ".mlir" else source,
        "@OPTIONS@": python(dict(case.options)),
        "@LANGUAGE@": case.language.name,
        "@STAGE@": point.stage.value,
    }
    return filled("ir/rerun_stage.py.txt", parts)
