"""Launches and times one case in an expendable process, with a context and a cache of its own.

What is timed is the very configuration that was compiled before: the same ASTSource (types, constexprs, divisors)
through ``triton.compile``, and the compiled kernel launched as it is, past the JIT and its own specialisation.
"""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List

from . import adapter, errors, load, outputs, tensors, timing
from .recorder import Recorder


class CannotMeasure(Exception):
    """No case can be measured with this interpreter and target; the text is the reason, in one line."""


def run(request: Dict[str, Any], result: int) -> None:
    """Measure; the answer is one event on the descriptor ``result``: ``measured`` or ``not_measured``. With ``once``
    in the request, the case is launched without timing, and the file ``launched`` in the folder says that it ended."""
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
    _set_allocator(torch)
    arguments = _arguments(source, inputs, plan["scalars"])
    runner = compiled[tuple(plan["grid"])]
    recording.emit("phase", doing="launching")
    runner(*arguments)
    torch.cuda.synchronize()
    if request["once"]:
        Path(request["folder"], "launched").touch()
        return {}
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


class LauncherLimit(Exception):
    """The launcher of this release cannot pass one of the arguments; the text names it."""


def _arguments(source: Any, inputs: List[tensors.Input], scalars: Dict[str, Any]) -> List[Any]:
    """The values of ``compiled[grid](*arguments)``. Raises LauncherLimit, and ImportError on releases without host-side
    descriptors. The launcher takes one value for each name of the source's signature (``CudaLauncher`` in
    triton/backends/nvidia/driver.py): up to 3.2 that is every argument but the constexprs, from 3.3 on every argument,
    with any value for the constexprs. Tensor descriptors are objects on the host side from 3.4 on. Observed with each
    of the releases from 3.0 to 3.9, through their own launchers."""
    _check_halves(source)
    values: Dict[str, Any] = dict(scalars)
    for tensor in inputs:
        values[tensor.name] = tensor.stored
        if tensor.block:
            from triton.tools.tensor_descriptor import TensorDescriptor

            values[tensor.name] = TensorDescriptor.from_tensor(tensor.stored, tensor.block)
    return [values.get(name) for name in source.signature]


def _check_halves(source: Any) -> None:
    """Up to 3.3 a half is handed over as a C float, of which the kernel reads the low two bytes: 0 for most values.
    The JIT never does this: it passes every Python float as an fp32."""
    import triton

    for name, type_ in source.signature.items():
        if type_ in ("fp16", "bf16") and not hasattr(triton, "knobs"):
            raise LauncherLimit("%s: the launcher of Triton %s loses %s scalars" % (name, triton.__version__, type_))


def _set_allocator(torch: Any) -> None:
    """Kernels that make descriptors themselves need memory for them, from 3.3 on; earlier releases have no such
    kernels."""
    import triton

    if not hasattr(triton, "set_allocator"):
        return

    def allocate(size: int, alignment: int, stream: Any) -> Any:
        # torch aligns to 512 bytes, which is more than a descriptor's 128.
        return torch.empty(size, dtype=torch.int8, device="cuda")

    triton.set_allocator(allocate)


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
