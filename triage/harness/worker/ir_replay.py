"""Runs some passes, or one stage, on a text of IR.

Reading the text is reported as stage ``source``: a failure there means that the text cannot be read.
"""

import json
import os
from pathlib import Path
from typing import Any, Dict, List

from . import adapter, ir_shadow, ir_text, recorder


def run(request: Dict[str, Any], recording: recorder.Recorder) -> None:
    """Perform the task ``request["ir"]``; errors propagate."""
    task = request["ir"]
    recording.begin("source")
    backend, context = ir_text.backend_and_context(request["target"])
    path = Path(task["file"])
    payload = path.read_text() if task["kind"] == "stage" and path.suffix != ".mlir" else ir_text.read(path, context)
    if task["kind"] == "describe":
        _describe(payload, Path(task["to"]))
    elif task["kind"] == "passes":
        _run_passes(payload, context, task, recording)
    else:
        _run_stage(payload, backend, request)
    recording.end()
    # No kernel is compiled, so no resources are known.
    recording.conclude("done", resources=None, num_ctas=None, cache_entry=None)


def _run_passes(module: Any, context: Any, task: Dict[str, Any], recording: recorder.Recorder) -> None:
    manager = ir_shadow.pass_manager(context, map(ir_shadow.decoded_step, task["steps"]))
    manager.enable_debug()
    spelling = task.get("spelling")
    if spelling:
        if hasattr(manager, "get_pipeline_str"):
            Path(spelling).write_text(manager.get_pipeline_str())
        else:
            # Up to 3.2 only the reproducer, written before the run, has the text of the pipeline.
            os.environ["TRITON_REPRODUCER_PATH"] = spelling
    recording.begin(task["stage"])
    ir_text.run(manager, module)


def _run_stage(payload: Any, backend: Any, request: Dict[str, Any]) -> None:
    from triton._C.libtriton import llvm

    task, options = request["ir"], backend.parse_options(dict(request["case"]["options"]))
    known = ir_text.stages(backend, options, request["case"]["language"])
    llvm.init_targets()
    # The passes ran before the module was printed; what is left of the stage is LLVM's part.
    ir_shadow.install(type(backend), lambda *_: None, {})
    metadata = dict(options.__dict__, hash="", target=adapter.gpu_target(**request["target"]))
    known[task["stage"]](payload, metadata)


def _describe(module: Any, to: Path) -> None:
    """Write the module as this release prints it, without locations if possible, and each operation's name and result
    types, in the order in which the operations end."""
    operations: List[Any] = []

    def see(operation: Any) -> None:
        types = [str(operation.get_result(n).get_type()) for n in range(operation.get_num_results())]
        operations.append([str(operation.get_name()), types])

    module.walk(see)
    text = module.str_nodebug() if hasattr(module, "str_nodebug") else str(module)
    to.write_text(json.dumps({"text": text, "operations": operations}))
