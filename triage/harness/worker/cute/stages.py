"""Instrumentation of the DSL: reports where a compile is, and ends it when the back end has made the binary.

What follows there is the JIT engine, which up to 4.4 asks for a driver.
"""

import functools
import os
import re
from io import open as open_file
from typing import Any, Dict, List

from .. import recorder
from . import module_facts

_ASSEMBLER = re.compile(r"PTX assembly failed|\bptxas\b")
_BACK_END = re.compile(r"NVVM backend compilation failed|libnvvm|nvvm_error|NVVM", re.IGNORECASE)


class Finished(BaseException):
    """The back end is done. Not an Exception: no handler of the DSL may take it for a failure."""


class Compile:
    """What is known of the compile under way. ``traced`` and ``lowered``: the module as MLIR's text, before the passes
    and after; the former is written to ``folder``. ``launches``: by launch, its configuration as far as it is known
    then."""

    def __init__(self) -> None:
        self.folder = ""
        self.traced = ""
        self.lowered = ""
        self.launches: List[Dict[str, Any]] = []


current = Compile()
"""Of this process, which compiles once."""
_installed = False


def install() -> None:
    """Wrap the DSL's own functions in this process, once."""
    global _installed  # noqa: PLW0603 - one process, one DSL, one installation
    if _installed:
        return
    _installed = True
    from cutlass.base_dsl import compiler, dsl

    _wrap(dsl.BaseDSL, "build_module", _verify)
    _wrap(compiler.Compiler, "compile", _lower)
    _wrap(dsl.BaseDSL.LaunchConfig, "__post_init__", _launch)


def _wrap(holder: Any, name: str, around: Any) -> None:
    original = getattr(holder, name)

    @functools.wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        if recorder.current is None:
            return original(*arguments, **named)
        return around(recorder.current, original, *arguments, **named)

    setattr(holder, name, call)


def _verify(recording: recorder.Recorder, original: Any, dsl: Any, module: Any, *rest: Any, **named: Any) -> Any:
    recording.begin("verify")
    try:
        return original(dsl, module, *rest, **named)
    finally:
        # Before the passes, which may kill the process.
        current.traced = _text(module)
        for event, fact in module_facts.read(current.traced):
            recording.emit(event, **fact)
        with open_file(os.path.join(current.folder, "kernel.trace"), "w", encoding="utf-8") as file:
            file.write(current.traced)


def _lower(recording: recorder.Recorder, original: Any, compiler: Any, module: Any, *rest: Any, **named: Any) -> Any:
    recording.begin("passes")
    try:
        original(compiler, module, *rest, **named)
    except Exception as error:
        for stage in _reached(error):
            recording.begin(stage)
        raise
    current.lowered = _text(module)
    recording.begin("ptx")
    raise Finished


def _reached(error: BaseException) -> List[str]:
    """The stages that began behind the passes, by what a failure says; the back end runs as a pass of the pipeline."""
    text = "%s %s" % (error, getattr(error, "nvvm_error", ""))
    if _ASSEMBLER.search(text):
        return ["ptx", "cubin"]
    return ["ptx"] if _BACK_END.search(text) else []


def _launch(recording: recorder.Recorder, original: Any, config: Any, *rest: Any, **named: Any) -> Any:
    result = original(config, *rest, **named)
    current.launches.append({name: _numbers(getattr(config, name, None)) for name in ("grid", "block", "cluster")})
    return result


def _numbers(extents: Any) -> Any:
    """Extents that are known while tracing; None where one is not."""
    numbers = [getattr(extent, "value", extent) for extent in extents or ()]
    return numbers if numbers and all(type(number) is int for number in numbers) else None


def _text(module: Any) -> str:
    try:
        return str(module.operation.get_asm(enable_debug_info=True))
    except Exception:  # what is only shown costs no compile
        return ""
