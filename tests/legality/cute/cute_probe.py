"""Runs in an environment of CuTe DSL: traces questions from standard input (JSON) and writes the answers (JSON).

A question has ``ask``: the function below that answers it. Nothing is compiled: answers are types and what the verifier
says of single operations. A question with ``"fork": true`` runs in a child, since it may end the process: then the
answer is ``{"error": "died"}``.
"""

import inspect
import json
import os
import re
import sys

os.environ.update(CUTE_DSL_DISABLE_FILE_CACHING="1", CUTE_DSL_LINEINFO="0")
os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")
ANSWERS = os.dup(1)
os.dup2(2, 1)

import cutlass  # noqa: E402
from cutlass import cute  # noqa: E402
from cutlass._mlir import ir  # noqa: E402
from cutlass.base_dsl import compiler  # noqa: E402

DTYPES = {
    "e4m3": cutlass.Float8E4M3FN,
    "e5m2": cutlass.Float8E5M2,
    "u8": cutlass.Uint8,
    "e2m1": cutlass.Float4E2M1FN,
    "ue8m0": cutlass.Float8E8M0FNU,
    "e3m2": cutlass.Float6E3M2FN,
    "e2m3": cutlass.Float6E2M3FN,
    "s8": cutlass.Int8,
    "f16": cutlass.Float16,
    "bf16": cutlass.BFloat16,
    "f32": cutlass.Float32,
    "tf32": cutlass.TFloat32,
    "s32": cutlass.Int32,
    "f64": cutlass.Float64,
}


class Traced(BaseException):
    """Raised in place of the compilation."""


def integers(text, number):
    """A shape or stride as CuTe prints it, as Python values; ``number`` stands for the dynamic ones."""
    text = re.sub(r"\?(?:\{(\d+)\})?", lambda match: f"dynamic({match[1] or 1})", text)

    def dynamic(divisor):
        return number if divisor == 1 else cute.assume(number, divby=divisor)

    return eval(text, {"dynamic": dynamic})


def layout(text, number=None):
    shape, stride = text.split(":")
    return cute.make_layout(integers(shape, number), stride=integers(stride, number))


def tensor(side, dtype, number):
    space = getattr(cute.AddressSpace, side["space"])
    value = number if side["space"] == "smem" else cutlass.Int64(number)
    pointer = cute.make_ptr(dtype, value, space, assumed_align=side["alignment"])
    shape = layout(side["layout"], number)
    if side.get("swizzle"):
        shape = cute.make_composed_layout(cute.make_swizzle(*side["swizzle"]), 0, shape)
    whole = cute.make_tensor(pointer, shape)
    if side.get("tiler"):
        return cute.local_tile(whole, tuple(side["tiler"]), (number,) * len(side["tiler"]))
    return whole


def copy(question, number, thread):
    dtype = DTYPES[question["dtype"]]
    source, destination = (tensor(question[name], dtype, number) for name in ("source", "destination"))
    operation = cute.nvgpu.CopyUniversalOp if question["atom"] == "universal" else cute.nvgpu.cpasync.CopyG2SOp
    atom = cute.make_copy_atom(operation(), dtype, num_bits_per_copy=question["bits"])
    tiled = cute.make_tiled_copy_tv(atom, layout(question["threads"]), layout(question["values"]))
    part = tiled.get_slice(thread)
    source, destination = part.partition_S(source), part.partition_D(destination)
    cute.copy(tiled, source, destination)
    verify_last()
    return {"source": str(source.type), "destination": str(destination.type)}


def verify_last():
    """Verify the last operation and take it out of the program again. Raises what the verifier says."""
    block = ir.InsertionPoint.current.block
    operation = block.operations[len(block.operations) - 1].operation
    try:
        operation.verify()
    finally:
        operation.erase()


def algebra(question, number, thread):
    function = getattr(cute, question["function"])
    return {"layout": str(function(*(layout(text) for text in question["layouts"])))}


def tile_to_shape(question, number, thread):
    arguments = (tuple(question["shape"]), tuple(question["order"]))
    return {"layout": str(cute.tile_to_shape(layout(question["layout"]), *arguments))}


def divide(question, number, thread):
    return {"layout": str(cute.zipped_divide(layout(question["layout"], number), tuple(question["tiler"])))}


def wgmma(question, number, thread):
    """Layouts of a tile in shared memory, its descriptors and accumulator, and the operation itself."""
    warpgroup, operand_majors = cute.nvgpu.warpgroup, cute.nvgpu.OperandMajorMode
    dtype, (m, n, k), width = DTYPES[question["dtype"]], question["tile"], question["n"]
    majors = {name: operand_majors[question[name].upper()] for name in ("a_major", "b_major")}
    source = warpgroup.OperandSource.SMEM if question["a_from"] == "shared" else warpgroup.OperandSource.RMEM
    accumulator = DTYPES[question["d"]]
    depth = 256 // dtype.width
    if question["dtype"] in ("f16", "bf16"):
        operation = warpgroup.MmaF16BF16Op(dtype, accumulator, (64, width, depth), source, *majors.values())
    elif question["dtype"] == "e4m3":
        operation = warpgroup.MmaF8Op(dtype, dtype, accumulator, (64, width, depth), source, *majors.values())
    else:
        operation = warpgroup.MmaI8Op(dtype, dtype, accumulator, (64, width, depth), source, *majors.values())
    mma = cute.make_tiled_mma(operation)
    part = mma.get_slice(thread)
    found = {}
    for name, rows in (("a", m), ("b", n)):
        kind = getattr(warpgroup.SmemLayoutAtomKind, question[f"{name}_atom"])
        atom = warpgroup.make_smem_layout_atom(kind, dtype)
        tiled = cute.tile_to_shape(atom, (rows, k, question["stages"]), order=tuple(question["order"]))
        found[f"{name}_atom"] = str(atom)
        found[f"{name}_smem"] = str(tiled.outer)
        pointer = cute.recast_ptr(cute.make_ptr(dtype, number, cute.AddressSpace.smem, assumed_align=1024), tiled.inner)
        shared = cute.make_tensor(pointer, tiled.outer)
        partitioned = part.partition_A(shared) if name == "a" else part.partition_B(shared)
        fragment = mma.make_fragment_A(partitioned) if name == "a" else mma.make_fragment_B(partitioned)
        found[f"{name}_part"] = str(partitioned.layout)
        found[f"{name}_fragment"] = str(fragment.layout)
    found["accumulator"] = str(mma.partition_shape_C((m, n)))
    return found


def mma(question, number, thread):
    """Whether an operation can be made, and an MMA of it."""
    nvgpu = cute.nvgpu
    package, name = question["operation"].split(".")
    module = getattr(nvgpu, package)
    operation, tcgen05 = getattr(module, name), nvgpu.tcgen05
    sources = nvgpu.warpgroup.OperandSource if package == "warpgroup" else tcgen05.OperandSource
    try:
        majors = nvgpu.OperandMajorMode
    except (AttributeError, ImportError):
        majors = getattr(module, "OperandMajorMode", None)
    a, b, d = (DTYPES[question[operand]] for operand in "abd")
    known = {
        "ab_dtype": a,
        "a_dtype": a,
        "b_dtype": b,
        "acc_dtype": d,
        "shape_mnk": tuple(question["shape"]),
        "instruction_shape": tuple(question["shape"]),
        "sf_dtype": DTYPES[question.get("scales", "ue8m0")],
        "sf_type": DTYPES[question.get("scales", "ue8m0")],
    }
    if "Sparse" in name:
        known["sparse_metadata_format"] = next(iter(nvgpu.warp.SparseMetadataFormat))
    if package != "warp":
        source = {"shared": "SMEM", "registers": "RMEM", "tmem": "TMEM"}[question["a_from"]]
        known["a_src"] = sources[source]
        known["a_major_mode"] = majors[question["a_major"].upper()]
        known["b_major_mode"] = majors[question["b_major"].upper()]
        known["cta_group"] = tcgen05.CtaGroup(question["cta_group"])
    constructor = inspect.unwrap(operation.__init__)
    names = [name for name in inspect.signature(constructor).parameters if name in known]
    if not names:
        # Behind the wrapper of a deprecated operation.
        names = [name for name in known if name not in ("a_dtype", "b_dtype", "shape_mnk", "sf_dtype", "sf_type")]
    made = operation(**{name: known[name] for name in names})
    cute.make_tiled_mma(made)
    verify_last()
    return {"operation": question["operation"]}


def answer(question, number, thread):
    try:
        return globals()[question["ask"]](question, number, thread)
    except Exception as error:
        return {"error": re.sub("\x1b\\[[0-9;]*m", "", f"{type(error).__name__}: {error}")[:1000]}


def forked(question, number, thread):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(2)
        os.write(writer, json.dumps(answer(question, number, thread)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else {"error": "died"}


QUESTIONS = json.load(sys.stdin)
RESULTS = []


def every(number, thread):
    for question in QUESTIONS:
        RESULTS.append((forked if question.get("fork") else answer)(question, number, thread))


@cute.kernel
def kernel(number: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    every(number, thread)


@cute.jit
def host(number: cutlass.Int32):
    kernel(number).launch(grid=(1, 1, 1), block=(256, 1, 1))


def compile_nothing(self, *arguments, **keywords):
    raise Traced


compiler.Compiler.compile = compile_nothing
try:
    cute.compile(host, cutlass.Int32(1))
except BaseException as error:
    if len(RESULTS) != len(QUESTIONS):
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
os.write(ANSWERS, json.dumps(RESULTS).encode())
