"""Launches and times one case in an expendable process, with a context and a cache of its own.

What is timed is the very configuration that was compiled before: the same ASTSource (types, constexprs, divisors)
through ``triton.compile``, and the compiled kernel launched as it is, past the JIT and its own specialisation.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List

from . import adapter, errors, launch, load, outputs, tensors, timing
from .recorder import Recorder


class CannotMeasure(Exception):
    """No case can be measured with this interpreter and target; the text is the reason, in one line."""


def run(request: Dict[str, Any], result: int) -> None:
    """Measure; the answer is one event on the descriptor ``result``: ``measured`` or ``not_measured``."""
    recording = Recorder(result, request["token"])
    folder = request["folder"]
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
    os.environ["TMPDIR"] = folder
    tempfile.tempdir = None
    try:
        measurement = _measure(request, recording)
    except CannotMeasure as error:
        recording.emit("not_measured", reason=str(error), everywhere=True)
    except BaseException as error:  # SystemExit and KeyboardInterrupt are ways to fail as well
        recording.emit("not_measured", reason=_in_one_line(error), everywhere=False)
        errors.print_chain(error)
    else:
        recording.emit("measured", **measurement)
    sys.stdout.flush()
    sys.stderr.flush()


def _measure(request: Dict[str, Any], recording: Recorder) -> Dict[str, Any]:
    recording.emit("phase", doing="importing torch")
    torch = _torch()
    import triton

    _check_device(torch, request["target"])
    recording.emit("phase", doing="importing the kernel's module")
    kernel = load.find_kernel(load.load_module(Path(request["path"]))[0], request["kernel"])
    recording.emit("phase", doing="compiling")
    source = adapter.make_source(kernel, request["case"])
    target = adapter.gpu_target(**request["target"])
    compiled = triton.compile(source, target=target, options=dict(request["case"]["options"]))
    recording.emit("phase", doing="making the inputs")
    plan = request["plan"]
    inputs = tensors.make(torch, plan["tensors"], "cuda")
    launch.set_allocator(torch)
    arguments = launch.arguments(source, inputs, plan["scalars"])
    runner = compiled[tuple(plan["grid"])]
    recording.emit("phase", doing="launching")
    runner(*arguments)
    torch.cuda.synchronize()
    # Only the first launch saw the original inputs: later ones may accumulate into the outputs.
    comparison = _compare(torch, request, recording, inputs)
    recording.emit("phase", doing="timing")
    times = timing.measure(torch, lambda: runner(*arguments))
    return {
        "times_ms": times,
        "device": torch.cuda.get_device_name(),
        "clock": timing.clock(torch),
        "comparison": comparison,
    }


def _torch() -> Any:
    if importlib.util.find_spec("torch") is None:
        raise CannotMeasure("no torch beside the Triton in %s; inputs are made with it" % sys.executable)
    try:
        import torch
    except Exception as error:
        raise CannotMeasure("torch cannot be imported in %s: %s" % (sys.executable, _in_one_line(error))) from None
    if not torch.cuda.is_available():
        raise CannotMeasure("no GPU that torch %s in %s can use" % (torch.__version__, sys.executable))
    return torch


def _check_device(torch: Any, target: Dict[str, Any]) -> None:
    if getattr(torch.version, "hip", None):
        backend, arch = "hip", torch.cuda.get_device_properties(0).gcnArchName.partition(":")[0]
    else:
        backend, arch = "cuda", "%d%d" % torch.cuda.get_device_capability(0)
    if (backend, arch) != (target["backend"], target["arch"]):
        wanted = "%s:%s" % (target["backend"], target["arch"])
        here = "%s:%s" % (backend, arch)
        raise CannotMeasure(
            "the GPU here is a %s, %s; the case is for %s" % (torch.cuda.get_device_name(0), here, wanted)
        )


def _compare(torch: Any, request: Dict[str, Any], recording: Recorder, inputs: List[tensors.Input]) -> Any:
    names = request["plan"]["outputs"]
    if not names:
        return None
    recording.emit("phase", doing="comparing the outputs")
    folder = Path(request["reference"])
    if request["first"]:
        outputs.write(torch, inputs, names, folder)
        return None
    return outputs.compare(torch, inputs, names, folder)


def _in_one_line(error: BaseException) -> str:
    """The innermost cause: exceptions of a compile are often wrapped, those of a launch are not."""
    last = errors.describe(error)[-1]
    text = " ".join(last["message"].split())[:300]
    return "%s: %s" % (last["type"], text) if text else last["type"]
