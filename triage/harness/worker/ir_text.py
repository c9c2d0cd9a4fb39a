"""Compiles a text of IR, the output of some stage, from the next stage to the binary.

Triton's own ``compile`` of such a file takes TTIR, TTGIR and PTX alone, each release in its own way; here the stages
are called one by one, as it calls them. Reading the text is reported as stage ``source``: a failure there means that
this release cannot read the text, and is not a failure of the compile.
"""

import os
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

from . import adapter

ENDINGS = {
    ".source": "source", ".glir": "glir", ".ttir": "ttir", ".ttgir": "ttgir", ".llir": "llir", ".ll": "llir",
    ".ptx": "ptx", ".amdgcn": "amdgcn", ".mlir": "mlir",
}  # fmt: skip
"""File endings and the stage that left such a text; ``mlir`` is a module with a pipeline of its own."""
MLIR = frozenset({"source", "glir", "ttir", "ttgir", "mlir"})
LANGUAGES = ("triton", "gluon")
"""In the order of triton.backends.compiler.Language."""
_MOST_MESSAGE = 160


class CannotRead(Exception):
    """This release cannot read the text."""


def backend_and_context(target: Dict[str, Any]) -> Tuple[Any, Any]:
    """The back-end of a target, and a context with its dialects."""
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend

    backend = make_backend(adapter.gpu_target(**target))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return backend, context


def stages(backend: Any, options: Any, language: str) -> Dict[str, Callable[..., Any]]:
    """The back-end's stages, in order."""
    known: Dict[str, Callable[..., Any]] = {}
    try:
        from triton.backends.compiler import Language
    except ImportError:
        backend.add_stages(known, options)
    else:
        backend.add_stages(known, options, Language(LANGUAGES.index(language)))
    return known


def read(path: Path, context: Any) -> Any:
    """The module of a file, verified. Raises CannotRead with MLIR's message."""
    import triton
    from triton._C.libtriton import ir

    failure = None
    with _captured_stderr() as printed:
        try:
            module = ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:
            failure = str(error)
    if failure is not None:
        line = re.search(r":(\d+):\d+\)?: error: ([^\n]+)", "".join(printed))
        why = ("line %s: %s" % line.groups() if line else failure)[:_MOST_MESSAGE]
        raise CannotRead(
            "Triton %s cannot read this text (%s); IR belongs to the release that wrote it" % (triton.__version__, why)
        )
    module.context = context
    return module


def run(manager: Any, module: Any) -> None:
    """Run the passes of a manager."""
    try:
        manager.run(module)
    except TypeError:
        # From 3.6 on the tag of the reproducer's file has to be given.
        manager.run(module, "rerun")


def compile_text(request: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Run the stages that follow; returns their outputs, by stage, and the metadata. Each output is written to the
    folder of Triton's cache at once, as in a compile of a kernel. Raises BadCase, CannotRead, and what a stage raises.
    """
    from triton._C.libtriton import llvm

    path, case = Path(request["path"]), request["case"]
    own = ENDINGS[path.suffix]
    target = adapter.gpu_target(**request["target"])
    adapter.check_options(target, case["options"])
    backend, context = backend_and_context(request["target"])
    options = backend.parse_options(dict(case["options"]))
    known = stages(backend, options, "gluon" if own == "glir" else case["language"])
    names = list(known)
    if own != "source" and own not in names:
        raise adapter.BadCase("%s is not what a stage for %s makes: %s" % (path.name, target.backend, ", ".join(names)))
    payload: Any = read(path, context) if own in MLIR else path.read_text(errors="replace")
    if own not in MLIR:
        llvm.init_targets()
    folder = Path(os.environ["TRITON_CACHE_DIR"]) / "text"
    folder.mkdir(parents=True)
    _write(folder, request["kernel"], own, payload)
    metadata = dict(options.__dict__, hash="", target=target)
    outputs: Dict[str, Any] = {own: str(payload)}
    for name in names[0 if own == "source" else names.index(own) + 1 :]:
        payload = known[name](payload, metadata)
        outputs[name] = payload if isinstance(payload, bytes) else str(payload)
        _write(folder, request["kernel"], name, outputs[name])
    return outputs, metadata


def _write(folder: Path, kernel: str, stage: str, payload: Any) -> None:
    data = payload if isinstance(payload, bytes) else str(payload).encode("utf-8", "replace")
    (folder / ("%s.%s" % (kernel[:150], stage))).write_bytes(data)


@contextmanager
def _captured_stderr() -> Iterator[List[str]]:
    """Capture standard error in a list, and print it to the log afterwards."""
    printed: List[str] = []
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield printed
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            printed.append(file.read().decode("utf-8", "replace"))
            sys.stderr.write(printed[0])
