"""Prints what Triton allocates: run by the interpreter under test, one configuration a line on standard input.

A configuration is ``target m n k dtype out b_layout loads epilogue stages warps``; the answer is the same line with
``ttg.shared``, or ``-`` where the compile failed. Everything up to the pass that allocates shared memory is run by the
backend itself; the passes after it, and LLVM, are left out. Each configuration has a process of its own.
"""

import contextlib
import inspect
import os
import signal
import sys

import kernels
import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

OLD = tuple(map(int, triton.__version__.split(".")[:2])) < (3, 3)
TYPES = {
    "fp16": tl.float16,
    "bf16": tl.bfloat16,
    "fp32": tl.float32,
    "fp8e4nv": tl.float8e4nv,
    "fp8e5": tl.float8e5,
    "i8": tl.int8,
    "i32": tl.int32,
}
TIMEOUT_S = 60


class Allocated(Exception):
    """Shared memory is allocated: nothing after it is of interest."""


class Shadow:
    """A module whose attributes are seen through ``change``."""

    def __init__(self, module, change):
        self._module, self._change = module, change

    def __getattr__(self, name):
        return self._change(name, getattr(self._module, name))


def source(m, n, k, dtype, out, b_nk, loads, epilogue):
    """The kernel with its signature; every pointer and size divisible by 16."""
    constants = {"BM": m, "BN": n, "BK": k, "B_NK": b_nk, "OUT": TYPES[out]}
    constants["ACC"] = TYPES["i32" if dtype == "i8" else "fp32"]
    if loads == "tma":
        function = kernels.descriptor
        shapes = {"a_desc": (dtype, m, k), "b_desc": (dtype, n, k) if b_nk else (dtype, k, n), "c_desc": (out, m, n)}
        signature = {name: f"tensordesc<{one}[{rows}, {cols}]>" for name, (one, rows, cols) in shapes.items()}
        signature.update({"c_ptr": "*" + out, "M": "i32", "N": "i32", "K": "i32", "sc": "i32"})
        constants["STORE"] = epilogue == "tma"
    else:
        function = kernels.pointer
        signature = {"a_ptr": "*" + dtype, "b_ptr": "*" + dtype, "c_ptr": "*" + out}
        signature.update(dict.fromkeys(("M", "N", "K", "sa", "sb", "sc"), "i32"))
    names = list(function.arg_names)
    divisible = [names.index(name) for name in signature if not name.endswith("_desc")]
    if OLD:
        from triton.backends.compiler import AttrsDescriptor

        attributes = AttrsDescriptor.from_hints(dict.fromkeys(divisible, 16))
        return ASTSource(function, signature, constants=constants, attrs=attributes)
    return ASTSource(
        function,
        {name: signature.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={(place,): [["tt.divisibility", 16]] for place in divisible},
    )


def stop_after_allocation(stage):
    """Make the passes after the allocation nothing, and LLVM the end."""
    reached = []

    def change(name, value):
        if inspect.ismodule(value):
            return Shadow(value, change)
        if not name.startswith("add_"):
            return value

        def add(*arguments, **named):
            if not reached:
                value(*arguments, **named)
                if name.startswith("add_allocate_shared_memory"):
                    reached.append(name)

        return add

    def end(*_):
        raise Allocated

    names = stage.__globals__
    for name in ("passes", "nvidia", "amd"):
        if name in names:
            names[name] = Shadow(names[name], change)
    names["llvm"] = Shadow(names["llvm"], lambda name, value: end)


def shared(target, stages, warps, kernel):
    """``ttg.shared`` of one configuration."""
    kind, arch = target.split(":")
    wide = kind == "hip" and arch.startswith("gfx9")
    gpu = GPUTarget(kind, int(arch) if kind == "cuda" else arch, 64 if wide else 32)
    backend = make_backend(gpu)
    options = backend.parse_options({"num_warps": warps, "num_stages": stages})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation
    known = {
        "options": options,
        "codegen_fns": functions(options) if inspect.signature(functions).parameters else functions(),
        "module_map": backend.get_module_map(),
        "context": context,
        "target": gpu,
    }
    module = kernel.make_ir(*(known[name] for name in inspect.signature(kernel.make_ir).parameters))
    run = {}
    if "language" in inspect.signature(backend.add_stages).parameters:
        from triton.backends.compiler import Language

        backend.add_stages(run, options, Language.TRITON)
    else:
        backend.add_stages(run, options)
    metadata = {"hash": "", "target": gpu, **options.__dict__}
    module = run["ttgir"](run["ttir"](module, metadata), metadata)
    stop_after_allocation(type(backend).make_llir)
    with contextlib.suppress(Allocated):
        run["llir"](module, metadata)
    return module.get_int_attr("triton_gpu.shared" if OLD else "ttg.shared")


def measure(line):
    """The answer to one line, from a child that may die of it."""
    target, m, n, k, dtype, out, b_layout, loads, epilogue, stages, warps = line.split()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        signal.alarm(TIMEOUT_S)
        try:
            kernel = source(int(m), int(n), int(k), dtype, out, b_layout == "nk", loads, epilogue)
            os.write(writing, str(shared(target, int(stages), int(warps), kernel)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found or "-"


for configuration in sys.stdin:
    print(configuration.strip(), measure(configuration), flush=True)
