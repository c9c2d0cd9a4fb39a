"""Records the input of every pass and every stage of a compile, before it runs.

The journal is a file of one JSON object a line; its last line shows where the compile ended. With
``step`` each pass runs in a pass manager of its own, and the module is written before each pass; without it each
pipeline runs as a whole, and the module is written before each pipeline.
"""

import functools
import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from . import ir_shadow, stages

JOURNAL = "journal.jsonl"
_MOST_MODULES = 24
"""Modules that stay on disk: the failing pass's and those of the passes before it, which may be needed to reproduce."""
_UNPRINTABLE_AFTER = "add_di_scope"
"""3.3.1 and 3.4.0 never come back from printing a module with the debug scopes that this pass makes."""


class Journal:
    """The journal in ``folder``. ``step``: pass by pass."""

    def __init__(self, folder: Path, step: bool) -> None:
        self._folder, self._step = folder, step
        self._file = (folder / JOURNAL).open("w")
        self._number = 0
        self._pipelines = 0
        self._stage = ""
        self._printable: Optional[str] = None
        self._debug_scopes = False
        self._modules: List[Path] = []

    def install(self, compiler: Any) -> None:
        """Record the stages and pipelines of a back-end's class."""
        callbacks = {"llvm.to_module": self._to_module, "llvm.translate_to_asm": self._called}
        ir_shadow.install(compiler, self._run, callbacks)
        stages.wrap_stages(compiler, self._recorded)

    def record_commands(self) -> None:
        """Record the calls of the assembler."""
        original = subprocess.run

        @functools.wraps(original)
        def run(*arguments: Any, **named: Any) -> Any:
            if arguments and "ptxas" in str(arguments[0]):
                self._write("call", None, arguments=ir_shadow.encode(arguments[0]))
            return original(*arguments, **named)

        subprocess.run = run

    def _called(self, source: str, *arguments: Any) -> None:
        self._write("call", None, arguments=[ir_shadow.encode(argument) for argument in arguments])

    def _recorded(self, name: str, function: Any) -> Any:
        def stage(source: Any, metadata: Any) -> Any:
            self._stage = name
            if isinstance(source, str):
                self._write("stage", self._save(source, "txt"))
            return function(source, metadata)

        return stage

    def _to_module(self, module: Any, *_: Any) -> None:
        """MLIR is done; the rest of the stage is LLVM's."""
        self._write("llvm", self._print(module))

    def _run(self, module: Any, steps: List[ir_shadow.PassStep], tag: Tuple[Any, ...]) -> None:
        self._pipelines += 1
        if not self._step:
            self._write("pipeline", self._print(module), steps=[step.encoded() for step in steps])
            self._run_real(module, steps, tag)
            return
        for index, step in enumerate(steps):
            self._write("pass", self._print(module, first=index == 0), steps=[step.encoded()])
            self._run_real(module, [step], tag)

    def _run_real(self, module: Any, steps: List[ir_shadow.PassStep], tag: Tuple[Any, ...]) -> None:
        self._debug_scopes |= any(step.adder.endswith(_UNPRINTABLE_AFTER) for step in steps)
        manager = ir_shadow.pass_manager(module.context, steps)
        manager.enable_debug()
        manager.run(module, *tag)

    def _print(self, module: Any, first: bool = True) -> Optional[str]:
        if not self._debug_scopes:
            self._printable = self._save(str(module), "mlir", keep=first)
        return self._printable

    def _save(self, text: str, ending: str, keep: bool = True) -> str:
        self._number += 1
        path = self._folder / ("%04d.%s" % (self._number, ending))
        path.write_text(text)
        if not keep:
            self._modules.append(path)
        while len(self._modules) > _MOST_MODULES:
            self._modules.pop(0).unlink()
        return path.name

    def _write(self, kind: str, file: Optional[str], **more: Any) -> None:
        record = {"kind": kind, "stage": self._stage, "pipeline": self._pipelines, "file": file, **more}
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()


def install(task: Dict[str, Any]) -> None:
    """Record what this process compiles from now on."""
    from triton.backends import backends

    journal = Journal(Path(task["folder"]), task["step"])
    journal.record_commands()
    for backend in backends.values():
        journal.install(backend.compiler)
