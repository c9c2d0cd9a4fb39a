# Runs the pass nvidia.passes.ttnvgpuir.add_nvgpu_to_llvm of Triton 3.2.0 on before.mlir, as this does:
#
#   triton-opt before.mlir --pass-pipeline='builtin.module(convert-nv-gpu-to-llvm)'
#
# Exit codes (as `git bisect run` has them): 0 the bug is gone, 1 it is there, 125 it cannot be told.
# Needs no GPU and nothing but Triton: pip install triton==3.2.0
import os
import re
import signal
import subprocess
import sys
import tempfile

_HEADLINE = 'Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not supported'
_TRITON = '3.2.0'
_PATTERN = '(?s)\\A(?=.*NVGPUToLLVMPass\\.cpp)(?=.*supported\\s+\\&\\&\\s+"WGMMA\\s+type\\s+or\\s+shape\\s+is\\s+not\\s+supported")'
_SIGNAL = None
_TIMEOUT_S = None
_PATIENCE_S = 180.0


def _judge():
    """Run it in a child of this process, as the compiler may abort, and say what came of it."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "RERUN_CHILD": "1", "TRITON_CACHE_DIR": scratch, "TMPDIR": scratch}
        child = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ended = True
        try:
            said = child.communicate(timeout=_TIMEOUT_S or _PATIENCE_S)[0]
        except subprocess.TimeoutExpired:
            ended = False
            os.killpg(child.pid, signal.SIGKILL)
            said = child.communicate()[0]
    before, read, said = said.decode(errors="replace").partition("RERUN: read\n")
    if not read:
        print(before[-4000:])
        print("cannot tell: this Triton cannot run it; IR text does not travel between releases, it is from", _TRITON)
        return 125
    if not ended:
        print("it is there:" if _TIMEOUT_S else "cannot tell, it did not end:", _HEADLINE)
        return 1 if _TIMEOUT_S else 125
    ended_by = signal.Signals(-child.returncode).name if child.returncode < 0 else None
    if (_PATTERN and re.search(_PATTERN, said)) or (not _PATTERN and _SIGNAL and ended_by == _SIGNAL):
        print("it is there:", _HEADLINE)
        return 1
    if child.returncode == 0 and "RERUN: done" in said:
        print("it is gone: this ends well. It was:", _HEADLINE)
        return 0
    print(said[-4000:])
    print("cannot tell: it neither ends well nor fails with:", _HEADLINE)
    return 125


if "RERUN_CHILD" not in os.environ:
    sys.exit(_judge())

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "before.mlir")
_BACKEND = make_backend(GPUTarget('cuda', 90, 32))
_CONTEXT = ir.context()
ir.load_dialects(_CONTEXT)
_BACKEND.load_dialects(_CONTEXT)

from triton._C import libtriton

_MODULE = ir.parse_mlir_module(_FILE, _CONTEXT)
_MODULE.context = _CONTEXT
_MANAGER = ir.pass_manager(_CONTEXT)
_MANAGER.enable_debug()
libtriton.nvidia.passes.ttnvgpuir.add_nvgpu_to_llvm(_MANAGER)
print("RERUN: read", flush=True)
try:
    _MANAGER.run(_MODULE)
except TypeError:  # From 3.6 on it wants a tag for its reproducers.
    _MANAGER.run(_MODULE, "rerun")
print("RERUN: done", flush=True)
