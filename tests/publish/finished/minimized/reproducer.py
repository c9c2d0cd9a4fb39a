# Exit codes (as `git bisect run` has them): 0 the bug is gone, 1 it is there, 125 it cannot be told.
# Needs no GPU and nothing but Triton: pip install triton==3.2.0
import os
import re
import signal
import subprocess
import sys
import tempfile

_HEADLINE = 'Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not supported'
_PATTERN = '(?s)\\A(?=.*NVGPUToLLVMPass\\.cpp)(?=.*supported\\s+\\&\\&\\s+"WGMMA\\s+type\\s+or\\s+shape\\s+is\\s+not\\s+supported")'
_SIGNAL = None
_TIMEOUT_S = None
_LIMIT = None
_PATIENCE_S = 180.0


def _judge():
    """Do it in a child of this process, as that may abort, and say what came of it."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "REPRODUCER_CHILD": "1", "TRITON_CACHE_DIR": cache, "TMPDIR": cache}
        child = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", os.path.abspath(__file__)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said = child.communicate(timeout=_TIMEOUT_S or _PATIENCE_S)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            if _TIMEOUT_S:
                print("it is there:", _HEADLINE)
                return 1
            print("cannot tell: it did not end in %g s" % _PATIENCE_S)
            return 125
    ended_by = signal.Signals(-child.returncode).name if child.returncode < 0 else None
    if (_PATTERN or _SIGNAL) and re.search(_PATTERN or "", said) and ended_by == (_SIGNAL or ended_by):
        print("it is there:", _HEADLINE)
        return 1
    # Some releases print an error of LLVM's and go on as if there were none.
    if child.returncode == 0 and "REPRODUCER: done" in said and not re.search(r"(?m)^(<[\w ]+>:[\d:]+ )?error: ", said):
        print("it is gone: this compiles. It was:", _HEADLINE)
        return 0
    print(said[-4000:])
    print("cannot tell: it neither compiles nor fails with:", _HEADLINE)
    return 125


if "REPRODUCER_CHILD" not in os.environ:
    sys.exit(_judge())


def _without_linker(backend):
    """AMD up to 3.4 asks ld.lld for its version before anything is compiled; all but the link works without."""
    plain = backend.hash

    def hash_(self):
        try:
            return plain(self)
        except Exception:
            return "no-ld.lld-%s" % (self.target,)

    backend.hash = hash_


def _source(kernel):
    """The kernel with its arguments, as this release wants them."""
    import inspect

    if getattr(kernel, "is_gluon", None) and kernel.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource as source
    elif type(kernel).__name__ == "GluonJITFunction":
        from triton.experimental.gluon._runtime import GluonASTSource as source
    else:
        from triton.compiler.compiler import ASTSource as source
    names = [one.name for one in kernel.params]
    given = dict(_CONSTEXPRS)
    for one in kernel.params:
        if one.name not in given and one.name not in _SIGNATURE and one.has_default:
            given[one.name] = one.default
    divisible = [names.index(name) for name in _DIVISIBLE if name in _SIGNATURE]
    if "constexprs" in inspect.signature(source.__init__).parameters:
        signature = {name: _SIGNATURE.get(name, "constexpr") for name in names}
        constants = {(names.index(name),): value for name, value in given.items()}
        return source(kernel, signature, constants, {(place,): [["tt.divisibility", 16]] for place in divisible})
    try:
        from triton.backends.compiler import AttrsDescriptor

        attributes = AttrsDescriptor.from_hints(dict.fromkeys(divisible, 16))
    except ImportError:
        from triton.compiler.compiler import AttrsDescriptor

        attributes = AttrsDescriptor(divisible_by_16=set(divisible), equal_to_1=set())
    return source(kernel, {name: _SIGNATURE[name] for name in names if name in _SIGNATURE}, given, attributes)


def _compiled(kernel):
    import triton
    from triton.backends import backends

    while not hasattr(kernel, "params"):
        kernel = kernel.fn
    if "amd" in backends:
        _without_linker(backends["amd"].compiler)
    return triton.compile(_source(kernel), target=_TARGET, options=_OPTIONS)


class _Driver:
    """Stands in for a GPU's driver, which some releases ask for the target; nothing is launched."""

    def __init__(self, target):
        self.target, self.utils = target, self

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def get_device_properties(self, device=None):
        return {"max_shared_mem": 232448, "multiprocessor_count": 132, "warpSize": self.target.warp_size}

    def get_benchmarker(self):
        return lambda call, **named: 0.0


def _compile(kernel):
    done = _compiled(kernel)
    threads = done.metadata.num_warps * _TARGET.warp_size
    used = {
        "shared memory": done.metadata.shared,
        "threads": threads,
        "cluster blocks": getattr(done.metadata, "num_ctas", 1),
        "tensor memory": getattr(done.metadata, "tmem_size", 0) or 0,
    }
    if _LIMIT and used.get(_LIMIT[0], 0) > _LIMIT[1]:
        print("out of resource: %s, Required: %d, Hardware limit: %d" % (_LIMIT[0], used[_LIMIT[0]], _LIMIT[1]))
    print("REPRODUCER: done", flush=True)


from triton.backends.compiler import GPUTarget as _GPUTarget
from triton.runtime.driver import driver as _driver

_TARGET = _GPUTarget('cuda', 90, 32)
if hasattr(_driver, "set_active"):
    _driver.set_active(_Driver(_TARGET))

# ---- the kernel

import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, K):
    accumulator = tl.zeros((64, 16), tl.float32)
    for k in range(K):
        a = tl._experimental_descriptor_load(a_ptr, k, [64, 16], tl.float32)
        accumulator = tl.dot(a, tl._experimental_descriptor_load(a_ptr, k, [16, 16], tl.float32))
    tl.store(a_ptr + tl.arange(0, 64)[:, None] + tl.arange(0, 16), accumulator)

# ---- its compile

_SIGNATURE = {'a_ptr': '*fp32', 'K': 'i32'}
_CONSTEXPRS = {}
_DIVISIBLE = ['a_ptr']
_OPTIONS = {}
_compile(matmul)
