"""One compile, in an expendable process. It reports through its recorder."""

import errno
import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from faulthandler import enable as enable_faulthandler
from io import open as open_file
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

from . import (
    adapter,
    causes,
    description,
    disassembly,
    errors,
    imports,
    ir_pipeline,
    ir_record,
    ir_replay,
    ir_text,
    load,
    lowering,
    placeholders,
    places,
    recorder,
    resources,
    stages,
    values,
)
from .reads import Reads

_MACHINE = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE,
    errno.EFBIG,  # ulimit -f
    errno.EMFILE, errno.ENFILE,  # ulimit -n
    errno.EAGAIN,  # ulimit -u, or the group's limit on processes
}  # fmt: skip
"""Faults of the machine, or limits of its own, and not of the kernel: triage could not tell."""
_NO_THREAD = "can't start new thread"
_NO_MEMORY = (os.strerror(errno.ENOMEM), "std::bad_alloc", "failed to map segment from shared object")
_NO_LLD = "ld.lld not found"


class Fault(Exception):
    """Triage's own code failed, or the environment: nothing is known of the compile. The text is the reason."""


def run_forked(request: Dict[str, Any], module: Any, missing: List[str], result: int) -> None:
    """Compile in a fork of a case server that has imported ``module``, with stand-ins for the packages ``missing``."""
    recording = _prepare(request, result)
    recording.begin("source")
    _guarded(request, lambda: (module, missing), recording)


def run_fresh(request: Dict[str, Any], result: int) -> None:
    """Compile in this fresh process, import included."""
    recording = _prepare(request, result)

    def imported() -> Any:
        with _own_code("importing Triton"):
            stages.install()
            if request["triton_key"]:
                adapter.set_triton_key(request["triton_key"])
            target = request["target"]
            adapter.set_driver(adapter.gpu_target(**target), request["limits"])
            imports.set_target(target, request["device"])
        path = Path(request["path"])
        # The compile's time starts with this event.
        recording.begin("source")
        recording.emit("importing")
        reads = Reads()
        reads.begin()
        loaded = load.load_module(path, request["sliced"], request["lent"])
        recording.emit("imported", reads=reads.end(path))
        return loaded

    _guarded(request, imported, recording)


@contextmanager
def _own_code(doing: str) -> Iterator[None]:
    """Around what is triage's own and not the user's: an exception is no failure of the compile."""
    try:
        yield
    except BaseException as error:  # what the module under test has put into the standard library raises anything
        raise Fault("%s: %s: %s" % (doing, type(error).__name__, error)) from error


def _prepare(request: Dict[str, Any], result: int) -> recorder.Recorder:
    recording = recorder.current = recorder.Recorder(result, request["token"], request["until"])
    folder = request["folder"]
    os.environ["TRITON_CACHE_DIR"] = folder + "/cache"
    os.environ["TMPDIR"] = folder
    os.environ.update(request.get("environment", {}))
    tempfile.tempdir = None  # Python caches the server's.
    # The Python stack at a fatal signal names the stage even where LLVM prints nothing; apart from the log,
    # whose text is the compiler's alone.
    enable_faulthandler(file=open_file(folder + "/python-stack.txt", "w"))  # lives until the end
    return recording


def _guarded(request: Dict[str, Any], module: Callable[[], Any], recording: recorder.Recorder) -> None:
    """Compile, and report how that ended. Raises recorder.Unreported."""
    try:
        loaded, missing = module()
        for name in missing:
            recording.emit("missing", package=name)
        _compile(request, loaded, recording)
    except BaseException as error:  # SystemExit and KeyboardInterrupt as well
        event = verdict(error)
        recording.conclude(**event)
        if "errors" in event:
            errors.print_chain(error)
    flush()


def flush() -> None:
    """Write out what was printed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):  # They may be objects of the kernel's module.
            stream.flush()


def verdict(error: BaseException) -> Dict[str, Any]:
    """The event for what ended a compile, or the import of the kernel's module: ``undecided``, else ``error``, with
    ``no_memory`` where an allocation was refused."""
    stand_in = causes.of(error)
    if stand_in is not None:
        return {"ev": "undecided", "reason": stand_in, "input_error": False}
    # An API that does not exist on this release is how the case fails here.
    lacks_api = isinstance(error, values.BadValue) and "this Triton has no" in str(error)
    if isinstance(error, (adapter.BadCase, load.BadKernel, values.BadValue, ir_text.CannotRead)) and not lacks_api:
        return {"ev": "undecided", "reason": str(error), "input_error": True}
    described = errors.describe(error)
    links = list(errors.chain(error, suppressed=True))
    no_memory = any(_refused_memory(link) for link in links)
    if not no_memory:
        for link in links:
            if isinstance(link, Fault) or _is_the_machines(link):
                return {"ev": "undecided", "reason": errors.message(link), "input_error": False}
        if any(_NO_LLD in link["message"] for link in described):
            return {"ev": "undecided", "reason": "no-lld", "input_error": False}
    return {"ev": "error", "errors": described, "no_memory": no_memory}


def _is_the_machines(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _MACHINE
    return isinstance(error, RuntimeError) and errors.message(error) == _NO_THREAD


def _refused_memory(error: BaseException) -> bool:
    """MemoryError and what is derived from it (numpy); ENOMEM; torch, the dynamic linker and C++ have it in a text."""
    if isinstance(error, (OSError, ImportError, RuntimeError)):
        return any(text in errors.message(error) for text in _NO_MEMORY)
    return isinstance(error, MemoryError)


def _compile(request: Dict[str, Any], module: Any, recording: recorder.Recorder) -> None:
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
        places.restore(module, request["functions"])
    recording.begin("source")
    source = adapter.make_source(kernel, request["case"])
    target = adapter.gpu_target(**request["target"])
    adapter.check_options(target, request["case"]["options"])
    try:
        compiled = triton.compile(source, target=target, options=dict(request["case"]["options"]))
    except stages.Stopped as stopped:
        _done(request, recording, {}, stopped.metadata.get)
        return
    with _own_code("looking for the compiled kernel"):
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
        raise Fault("the assembler wrote an empty file; is the disk full?")
    with _own_code("reading the compiled kernel"):
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
