"""Triton and Gluon in a worker (see :mod:`compilers`)."""

import gc
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, Optional

from . import (
    adapter,
    description,
    disassembly,
    imports,
    ir_pipeline,
    ir_record,
    ir_replay,
    ir_text,
    load,
    lowering,
    origins,
    own_code,
    placeholders,
    recorder,
    resources,
    stages,
    torch_facts,
)


def load_compiler() -> Dict[str, str]:
    """See :mod:`compilers`."""
    import triton

    # What turns a kernel into IR. Newer releases import it with the first compile, which would be that of each target.
    import triton.compiler.code_generator

    stages.install()
    return {"triton": triton.__version__}


def set_target(message: Dict[str, Any]) -> None:
    """See :mod:`compilers`."""
    import triton

    target = adapter.gpu_target(**message["target"])
    adapter.set_driver(target, message["limits"])
    imports.set_target(message["target"], message["device"], torch_facts.torch_version(triton.__version__))
    if message["triton_key"]:
        adapter.set_triton_key(message["triton_key"])


def warm_up(message: Dict[str, Any]) -> None:
    """Compile the tiny kernel. If this target cannot be compiled for, the real kernel's failure shows it."""
    import triton

    from . import warm

    target = adapter.gpu_target(**message["target"])
    os.environ["TRITON_CACHE_DIR"] = os.path.join(message["folder"], "warm")
    tempfile.tempdir = message["folder"]
    try:
        triton.compile(adapter.make_source(warm.triage_warm_up, warm.CASE), target=target, options={"num_warps": 4})
    except Exception:  # unsupported targets, a missing ld.lld
        return
    finally:
        tempfile.tempdir = None
        # An MLIR context that is still alive owns threads, which a fork would not have: its end would hang there.
        gc.collect()


def tools(message: Dict[str, Any]) -> Dict[str, str]:
    """See :mod:`compilers`."""
    target = message["target"]
    version = adapter.ptxas_version(target["arch"]) if target["backend"] == "cuda" else None
    return {"ptxas": version} if version else {}


library_key = adapter.triton_key
settle = load.hash_kernels


def compile(request: Dict[str, Any], module: Any, recording: recorder.Recorder) -> None:
    """See :mod:`compilers`."""
    import triton

    task = request["ir"]
    if task is not None and task["kind"] != "record":
        ir_replay.run(request, recording)
        return
    if task is not None:
        ir_record.install(task)
    if Path(request["path"]).suffix in ir_text.ENDINGS:
        _compile_text(request, recording)
        return
    if request["describe"]:
        _describe(request, module, recording)
        return
    kernel = load.find_kernel(module, request["kernel"])
    if request["functions"]:
        origins.restore(module, request["functions"])
    recording.begin("source")
    source = adapter.make_source(kernel, request["case"])
    target = adapter.gpu_target(**request["target"])
    adapter.check_options(target, request["case"]["options"])
    try:
        compiled = triton.compile(source, target=target, options=dict(request["case"]["options"]))
    except stages.Stopped as stopped:
        _done(request, recording, {}, stopped.metadata.get)
        return
    with own_code.during("looking for the compiled kernel"):
        entry = adapter.cache_entry(os.environ["TRITON_CACHE_DIR"], kernel.__name__)
    _done(request, recording, compiled.asm, lambda name: getattr(compiled.metadata, name, None), entry)


def _describe(request: Dict[str, Any], module: Any, recording: recorder.Recorder) -> None:
    layers = load.find_layers(module, request["kernel"])
    with imports.stand_ins(request["sliced"], request["lent"]):
        description.write(layers, **request["describe"])
    # Nothing was compiled.
    recording.conclude("done", resources=None, num_ctas=None, cache_entry=None)


def _compile_text(request: Dict[str, Any], recording: recorder.Recorder) -> None:
    recording.begin("source")
    if ir_text.ENDINGS[Path(request["path"]).suffix] == "mlir":
        recording.emit("note", text=ir_pipeline.run(request, recording))
        # A pipeline makes no kernel.
        recording.conclude("done", resources=None, num_ctas=None, cache_entry=None)
        return
    texts: Dict[str, Any] = {}
    try:
        texts, metadata = ir_text.compile_text(request)
    except stages.Stopped as stopped:
        metadata = stopped.metadata
    if "shared" not in metadata:
        recording.emit("note", text="how much shared memory it takes was decided before this text, and is not known")
    _done(request, recording, texts, metadata.get)


_METADATA = ("shared", "num_warps", "num_ctas", "warp_size", "tmem_size", "name")


def _done(
    request: Dict[str, Any],
    recording: recorder.Recorder,
    assembly: Mapping[str, Any],
    attribute: Callable[[str], Any],
    entry: Optional[str] = None,
) -> None:
    """Report the end. ``attribute``: the compile's metadata by name."""
    placeholders.check()
    if any(name in assembly and not assembly[name] for name in ("cubin", "hsaco")):
        # ptxas does not notice that it cannot write, and ends well.
        raise own_code.Fault("the assembler wrote an empty file; is the disk full?")
    with own_code.during("reading the compiled kernel"):
        metadata = {name: attribute(name) for name in _METADATA}
        metadata["warp_size"] = metadata["warp_size"] or request["target"]["warp_size"]
        used = resources.read(assembly, recording.ptxas_log, metadata)
        lowered = lowering.read(assembly)
        beyond = disassembly.beyond_shared(assembly, used, request["folder"], sys.modules["triton"].__file__ or "")
    recording.conclude(
        "done",
        resources=used,
        lowering=lowered,
        beyond_shared=beyond,
        num_ctas=metadata["num_ctas"],
        cache_entry=entry,
    )
