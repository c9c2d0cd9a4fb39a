"""CuTe DSL in a worker (see :mod:`compilers`)."""

import faulthandler
import importlib
import os
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any, Dict, Optional

from .. import adapter, imports, load, own_code, placeholders, recorder
from . import binaries, binding, settings, stages

_OPTIONS = ("arch", "opt_level", "ptxas_options")
_WARM_SINCE = (4, 5)
"""Older releases keep threads after a compile, which a fork would not have."""
_TORCH = "2.9.0"
"""Version of the stand-in for torch; releases of the DSL are independent of torch's."""


def load_compiler() -> Dict[str, str]:
    """See :mod:`compilers`."""
    # numpy, which a kernel's module may import, starts a thread for each core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    settings.before_import()
    from cutlass import cute  # noqa: F401 - what it imports takes a second

    stages.install()
    return {"cute": _release()}


def _release() -> str:
    metadata = importlib.import_module("importlib.metadata")
    return str(metadata.version("nvidia-cutlass-dsl"))


def set_target(message: Dict[str, Any]) -> None:
    """See :mod:`compilers`."""
    imports.set_target(message["target"], message["device"], _TORCH)


def warm_up(message: Dict[str, Any]) -> None:
    """Compile a tiny kernel, where that leaves no threads behind."""
    if tuple(int(part) for part in _release().split(".")[:2]) < _WARM_SINCE:
        return
    warm = importlib.import_module("." + "warm", __package__)
    settings.apply(settings.architecture(message["target"], {}), os.path.join(message["folder"], "warm"))
    try:
        warm.compile_once()
    except Exception:  # the real kernel's failure shows what is wrong with this target
        return


def tools(message: Dict[str, Any]) -> Dict[str, str]:
    """See :mod:`compilers`."""
    return {"arch": settings.architecture(message["target"], {})}


def library_key() -> Optional[str]:
    """See :mod:`compilers`."""
    return None


def settle(module: ModuleType) -> None:
    """See :mod:`compilers`."""


def compile(request: Dict[str, Any], module: ModuleType, recording: recorder.Recorder) -> None:
    """See :mod:`compilers`."""
    from cutlass import cute

    case, folder = request["case"], os.path.join(request["folder"], "cache", "cute")
    options = _options(case["options"])
    settings.apply(settings.architecture(request["target"], case["options"]), folder)
    # The DSL traces by running the user's code: the handler reports the user's line where that kills the process.
    faulthandler.enable(file=sys.stderr)
    stages.current.folder = folder
    call = binding.bind(_find(module, request["kernel"]), case)
    recording.begin("trace")
    with suppress(stages.Finished):
        cute.compile(call.function, *call.positional, **call.named, **options)
    placeholders.check()
    _done(request, recording, folder)


def _find(module: ModuleType, name: str) -> Any:
    kernel = getattr(module, name, None)
    if kernel is None:
        raise load.BadKernel("no function %r in %s" % (name, module.__name__))
    expression = placeholders.path_of(kernel) if type(kernel) is placeholders.StandIn else None
    if expression is not None:
        raise placeholders.Undecidable("%s is `%s`, and %s" % (name, expression, placeholders.reason(expression)))
    if not callable(kernel):
        raise load.BadKernel("%r is neither a function nor a class" % name)
    return kernel


def _options(stated: Dict[str, Any]) -> Dict[str, str]:
    for name in stated:
        if name not in _OPTIONS:
            raise adapter.BadCase("option %s is not known to CuTe DSL here; it has %s" % (name, ", ".join(_OPTIONS)))
    words = ["--%s %s" % (name.replace("_", "-"), stated[name]) for name in _OPTIONS[1:] if name in stated]
    return {"options": " ".join(words)} if words else {}


def _done(request: Dict[str, Any], recording: recorder.Recorder, folder: str) -> None:
    compiled = stages.current
    with own_code.during("reading the compiled kernel"):
        binary = binaries.read(folder, compiled.traced, compiled.lowered, request["tools"])
        launch = compiled.launches[-1] if compiled.launches else {}
        block, cluster = _product(launch.get("block")), _product(launch.get("cluster"))
        used = {
            "shared_bytes": binary["shared_bytes"],
            "registers": binary["registers"],
            "spill_bytes": binary["spill_bytes"],
            "tensor_core": binary["tensor_core"],
            "tensor_memory_columns": None,
            "threads": block,
            "warp_specialized": False,
            "register_copies": 0,
        }
    if binary["assembled"]:
        recording.begin("cubin")
    recording.end()
    recording.conclude(
        "done",
        resources=used,
        num_ctas=cluster,
        cache_entry=None,
        launches=len(compiled.launches),
        lowering={"asked": [], "products": [], "block_scaled": False, "indexed": binary["indexed"]},
    )


def _product(extents: Any) -> Optional[int]:
    if not extents:
        return None
    product = 1
    for extent in extents:
        product *= extent
    return product
