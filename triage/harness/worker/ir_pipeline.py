"""The pipeline that an MLIR reproducer names, run on the reproducer's module.

No release lets Python parse the text of a pipeline. But the back-end's stages build every pipeline that they would run
(see ``ir_shadow.py``), and each can be printed: the whole of a stage, or the one pass that a crash left. The pipeline
with the same text as the reproducer's is run, with the back-end's own arguments.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import adapter, ir_shadow, ir_text, recorder

_PIPELINE = re.compile(r'^\s*pipeline: "((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_MLIR_STAGES = ("ttir", "ttgir", "llir")


class _Enough(Exception):
    """Ends a stage where LLVM's part begins."""


class _NoModule:
    """Replaces the module of a stage, which asserts on a real module that it does not expect."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


class Pipeline(NamedTuple):
    """The passes that a stage gives one pass manager."""

    stage: str
    steps: List[ir_shadow.PassStep]


def run(request: Dict[str, Any], recording: recorder.Recorder) -> str:
    """Run it; returns what was run, for people. Raises BadCase where the back-end has no such pipeline, CannotRead, and
    what the pipeline raises."""
    path = Path(request["path"])
    wanted = named(path.read_text(errors="replace"))
    if wanted is None:
        raise adapter.BadCase("%s names no pipeline" % path.name)
    options = request["case"]["options"]
    adapter.check_options(adapter.gpu_target(**request["target"]), options)
    backend, context = ir_text.backend_and_context(request["target"])
    parsed = backend.parse_options(dict(options))
    pipeline = _find(wanted, list(_pipelines(backend, parsed, context, request)), context)
    if pipeline is None:
        raise adapter.BadCase(
            "no stage for %s:%s runs %s with these options; give those that it was compiled with, and its release with "
            "--triton" % (request["target"]["backend"], request["target"]["arch"], _short(wanted))
        )
    module = ir_text.read(path, context)
    manager = ir_shadow.pass_manager(context, pipeline.steps)
    manager.enable_debug()
    recording.begin(pipeline.stage)
    ir_text.run(manager, module)
    recording.end()
    return "what was run is %s, and nothing behind it" % _short(wanted)


def named(text: str) -> Optional[str]:
    """The pipeline of a reproducer, as :func:`_plain` has it; None for other texts."""
    pipelines = _PIPELINE.findall(text.rpartition("{-#")[2])
    return _plain(pipelines[-1]) if pipelines else None


def _plain(spelled: str) -> str:
    """Without the operations that it is anchored on, and without what differs between two printings of one pass."""
    text = " ".join(spelled.split())
    for name in ("builtin.module", "any"):
        if text.startswith(name + "(") and text.endswith(")"):
            text = text[len(name) + 1 : -1]
    return re.sub(r"\{ ?([^{}]*?) ?\}", lambda match: "{%s}" % " ".join(sorted(match.group(1).split())), text)


def _short(pipeline: str) -> str:
    bare = re.sub(r"\{[^{}]*\}", "", pipeline)
    count = bare.count(",") + 1
    return "pass %s" % pipeline if count == 1 else "the pipeline of %d passes from %s on" % (count, bare.split(",")[0])


def _pipelines(backend: Any, options: Any, context: Any, request: Dict[str, Any]) -> Iterator[Pipeline]:
    """All pipelines that the stages of MLIR would run; none of them runs."""
    recorded: List[Pipeline] = []
    stage = ""

    def note(module: Any, steps: List[ir_shadow.PassStep], tag: Tuple[Any, ...]) -> None:
        recorded.append(Pipeline(stage, list(steps)))

    def enough(*arguments: Any) -> None:
        raise _Enough

    ir_shadow.install(type(backend), note, {"llvm.to_module": enough})
    for language in ir_text.LANGUAGES:
        try:
            known = ir_text.stages(backend, options, language)
        except (ValueError, AttributeError, AssertionError):  # a release or a back-end without this language
            continue
        for stage in [name for name in known if name in _MLIR_STAGES]:
            metadata = dict(options.__dict__, hash="", target=adapter.gpu_target(**request["target"]))
            current, recorder.current = recorder.current, None  # no stage has begun
            try:
                known[stage](_NoModule(context), metadata)
            except Exception:
                # A stage that inspects the result of its passes has been recorded by then.
                pass
            finally:
                recorder.current = current
    yield from recorded


def _find(wanted: str, pipelines: List[Pipeline], context: Any) -> Optional[Pipeline]:
    """The pipeline, or the single pass, with that text; a pass matches by name alone if only one has it."""
    for pipeline in pipelines:
        if _spelled(pipeline.steps, context) == wanted:
            return pipeline
    passes = [Pipeline(pipeline.stage, [step]) for pipeline in pipelines for step in pipeline.steps]
    spelled = [(_spelled(single.steps, context), single) for single in passes]
    for text, single in spelled:
        if text == wanted:
            return single
    alike = {text: single for text, single in spelled if text is not None and text.partition("{")[0] == wanted}
    return next(iter(alike.values())) if len(alike) == 1 else None


def _spelled(steps: List[ir_shadow.PassStep], context: Any) -> Optional[str]:
    manager = ir_shadow.pass_manager(context, steps)
    if hasattr(manager, "get_pipeline_str"):
        return _plain(manager.get_pipeline_str())
    return _spelled_by_reproducer(manager, context)


def _spelled_by_reproducer(manager: Any, context: Any) -> Optional[str]:
    """The text of a pipeline up to 3.2, from the reproducer that is written before the run. An empty module is run, in
    a process of its own: a pass may crash on it."""
    with tempfile.TemporaryDirectory() as folder:
        empty, spelling = Path(folder, "empty.mlir"), Path(folder, "spelling.mlir")
        empty.write_text("module {\n}\n")
        pid = os.fork()
        if pid == 0:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 1)
            os.dup2(devnull, 2)
            try:
                os.environ["TRITON_REPRODUCER_PATH"] = str(spelling)
                manager.enable_debug()
                ir_text.run(manager, ir_text.read(empty, context))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        return named(spelling.read_text(errors="replace")) if spelling.exists() else None
