"""A kernel that is a text of IR, as a stage left it: compiled from the stage behind it to the binary.

Triton's own ``compile`` of such a file takes TTIR, TTGIR and PTX alone, each release in its own way; here the stages
are called one by one, as it calls them. Reading the text is told as stage ``source``: what fails there is a text that
this release cannot read, and no failure of the compile.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Tuple

from . import adapter

ENDINGS = {
    ".source": "source", ".glir": "glir", ".ttir": "ttir", ".ttgir": "ttgir", ".llir": "llir", ".ll": "llir",
    ".ptx": "ptx", ".amdgcn": "amdgcn", ".mlir": "mlir",
}  # fmt: skip
"""File endings and the stage that left such a text; ``mlir`` is a module with a pipeline of its own."""
MLIR = frozenset({"source", "glir", "ttir", "ttgir", "mlir"})
_LANGUAGES = ("triton", "gluon")
"""In the order of triton.backends.compiler.Language."""
_MOST_SAID = 160


class CannotRead(Exception):
    """The text is none of this release's."""


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
        backend.add_stages(known, options, Language(_LANGUAGES.index(language)))
    return known


def read(path: Path, context: Any) -> Any:
    """The module of a file, verified. Raises CannotRead with what MLIR says."""
    from triton._C.libtriton import ir

    with _overheard() as said:
        try:
            module = ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:
            module, said.reason = None, str(error)
    if module is None:
        raise CannotRead(_reason(said, path))
    module.context = context
    return module


def compile_text(request: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Run the stages that follow; returns what they made, by stage, and the metadata. Each text goes to the folder of
    Triton's cache when it is there, as in a compile of a kernel. Raises BadCase, CannotRead, and what a stage raises.
    """
    from triton._C.libtriton import llvm

    path, case = Path(request["path"]), request["case"]
    given = ENDINGS[path.suffix]
    target = adapter.gpu_target(**request["target"])
    adapter.check_options(target, case["options"])
    backend, context = backend_and_context(request["target"])
    options = backend.parse_options(dict(case["options"]))
    known = stages(backend, options, "gluon" if given == "glir" else case["language"])
    names = list(known)
    if given != "source" and given not in names:
        raise adapter.BadCase("%s is not what a stage for %s makes: %s" % (path.name, target.backend, ", ".join(names)))
    payload: Any = read(path, context) if given in MLIR else path.read_text(errors="replace")
    if given not in MLIR:
        llvm.init_targets()
    folder = Path(os.environ["TRITON_CACHE_DIR"]) / "text"
    folder.mkdir(parents=True)
    _keep(folder, request["kernel"], given, payload)
    metadata = dict(options.__dict__, hash="", target=target)
    made: Dict[str, Any] = {given: str(payload)}
    for name in names[0 if given == "source" else names.index(given) + 1 :]:
        payload = known[name](payload, metadata)
        made[name] = payload if isinstance(payload, bytes) else str(payload)
        _keep(folder, request["kernel"], name, made[name])
    return made, metadata


def _keep(folder: Path, kernel: str, stage: str, payload: Any) -> None:
    data = payload if isinstance(payload, bytes) else str(payload).encode("utf-8", "replace")
    (folder / ("%s.%s" % (kernel[:150], stage))).write_bytes(data)


class _Said:
    text = ""
    reason = ""


@contextmanager
def _overheard() -> Iterator[_Said]:
    """What is printed on standard error goes on to the log, and is here as well."""
    said = _Said()
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            data = file.read()
            said.text = data.decode("utf-8", "replace")
            sys.stderr.write(said.text)


def _reason(said: _Said, path: Path) -> str:
    import triton

    found = re.search(r":(\d+):\d+\)?: error: ([^\n]+)", said.text)
    why = "line %s: %s" % found.groups() if found else said.reason
    return "Triton %s cannot read this text (%s); IR belongs to the release that wrote it" % (
        triton.__version__,
        why[:_MOST_SAID],
    )
