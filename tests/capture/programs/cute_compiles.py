"""Compiles kernels of CuTe DSL: cute_compiles.py HOW…

``copies:N`` and ``aborts`` differ in the number of threads, of which 96 make the DSL's C++ abort; ``early`` fails while
the DSL rewrites the function, ``misaligned`` while it verifies; ``object`` and ``computed`` are class instances;
``called`` calls the host function itself, which compiles and then needs a GPU."""

import sys
from pathlib import Path
from typing import NamedTuple

import cutlass
from cutlass import cute, utils
from cutlass.cute import runtime

sys.path.append(str(Path(__file__).parents[3] / "triage" / "harness" / "worker" / "cute"))
from dlpack import capsule

capsules = []


class Tile(NamedTuple):
    rows: int
    columns: int


TILE = Tile(128, 64)


@cute.kernel
def _load(a: cute.Tensor, copy: cute.TiledCopy, layout: cute.ComposedLayout):
    thread, _, _ = cute.arch.thread_idx()
    tile = utils.SmemAllocator().allocate_tensor(a.element_type, layout, byte_alignment=1024)
    own = copy.get_slice(thread)
    cute.copy(copy, own.partition_S(a), own.partition_D(tile))


def loader(bits):
    @cute.jit
    def load(a: cute.Tensor, threads: cutlass.Constexpr, scale: float = 1.0):
        atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), a.element_type, num_bits_per_copy=bits)
        by_thread = cute.make_layout((threads // 8, 8), stride=(8, 1))
        copy = cute.make_tiled_copy_tv(atom, by_thread, cute.make_layout((1, 8)))
        inner = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
        layout = cute.tile_to_shape(inner, TILE, (0, 1))
        _load(a, copy, layout).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    return load


@cute.jit
def early(a: cute.Tensor, n: cutlass.Int64):
    if n > 3:
        return
    _load(a, None, None).launch(grid=(1, 1, 1), block=(32, 1, 1))


class Fill:
    def __init__(self, dtype, values=(4, 8)):
        self.dtype = dtype
        self.values = values

    @cute.jit
    def __call__(self, a: cute.Tensor, where: cute.Pointer, pair, stream, op: cutlass.Constexpr = lambda x: x + 1):
        self.layout = cute.make_layout(32)
        self._fill(a, op).launch(grid=(1, 1, 1), block=(32, 1, 1), stream=stream)

    @cute.kernel
    def _fill(self, a: cute.Tensor, op: cutlass.Constexpr):
        thread, _, _ = cute.arch.thread_idx()
        a[thread, 0] = self.dtype(op(self.values[0]))


class Computed(Fill):
    def __init__(self, n):
        self.dtype, self.values = cutlass.Float16, [TILE.rows * n]


COMPUTED = Computed(3)
OPS = (lambda x: x * 2, lambda x: x * 3)


def tensor(dynamic=False, align=16):
    rows, gmem = TILE.rows, cute.AddressSpace.gmem
    if hasattr(runtime, "make_fake_tensor"):
        shape = (cute.sym_int32(divisibility=8) if dynamic else rows, 64)
        return runtime.make_fake_tensor(cutlass.Float16, shape, (64, 1), memspace=gmem, assumed_align=align)
    capsules.append(capsule((rows, 64), (64, 1), 16, True, 1 << 20))
    made = runtime.from_dlpack(capsules[-1], assumed_align=align)
    made.element_type = cutlass.Float16
    return made.mark_compact_shape_dynamic(0, (0, 1), 8) if dynamic else made


def stream():
    if hasattr(runtime, "make_fake_stream"):
        return runtime.make_fake_stream()
    from cuda.bindings import driver

    return driver.CUstream(0)


def fill(kernel, **named):
    where = runtime.make_ptr(cutlass.Float32, 1 << 20, cute.AddressSpace.gmem, assumed_align=32)
    cute.compile(kernel, tensor(dynamic=True), where, (cutlass.Int32(3), cutlass.Int64(4)), stream(), **named)


def attempt(how):
    if how == "object":
        # Up to 4.0 there are no options.
        fill(Fill(cutlass.Float16), **({} if sys.argv[1] == "plain" else {"options": "--opt-level 2"}))
    elif how == "computed":
        fill(COMPUTED, op=OPS[0])
    elif how == "recomputed":  # finds what the first has left in the object
        fill(COMPUTED, op=OPS[1])
    elif how == "early":
        cute.compile(early, tensor(), 5)
    elif how == "called":
        early(tensor(), 5)
    elif how == "misaligned":
        cute.compile(loader(128), tensor(align=4), threads=64)
    else:
        cute.compile(loader(128), tensor(), 96 if how == "aborts" else int(how.partition(":")[2]))


def report(how):
    try:
        attempt(how)
        print(how, "compiled", flush=True)
    except Exception as error:
        first = next(line for line in str(error).splitlines() if line.strip())
        print(how, type(error).__name__, first, flush=True)


if __name__ == "__main__":
    for how in sys.argv[1:]:
        if how != "plain":
            report(how)
