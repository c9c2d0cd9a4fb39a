"""What CuTe host functions are launched with, read from their sources."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from triage.cases.stated import StatedValues
from triage.drafts.draft import drafts
from triage.drafts.kernels import find
from triage.drafts.model import JitFunction
from triage.model.errors import InputError

HEAD = """
import argparse
import torch
import cutlass
import cutlass.cute as cute
import cutlass.torch as cutlass_torch
from cutlass.cute.runtime import from_dlpack, make_ptr
import cuda.bindings.driver as cuda

@cute.kernel
def device(a: cute.Tensor):
    a[0] = a[0]

@cute.jit
def host(a: cute.Tensor, b, n: cutlass.Int32 = 4, TILE: cutlass.Constexpr = 64):
    device(a).launch(grid=(1, 1, 1), block=(TILE, 1, 1))
"""


def functions(tmp_path: Path, source: str, head: str = HEAD) -> dict[str, JitFunction]:
    file = tmp_path / "kernel.py"
    file.write_text(head + dedent(source))
    return {function.name: function for function in find(file)}


def values(function: JitFunction) -> list[dict[str, object]]:
    return [{name: value.value for name, value in draft.values.items()} for draft in drafts(function, StatedValues())]


@pytest.mark.parametrize(
    ("made", "type_"),
    [
        ("from_dlpack(torch.empty(64, 128, device='cuda'))", "tensor<f32, (64,128):(128,1), align=4>"),
        ("torch.empty(64, 128, device='cuda')", "tensor<f32, (?,?):(?,1), align=4>"),
        (
            "from_dlpack(torch.randn(8, 64, dtype=torch.float16).cuda().t(), assumed_align=16)",
            "tensor<f16, (64,8):(1,64), align=16>",
        ),
        ("from_dlpack(torch.ones(32, 32))", "tensor<f32, (32,32):(32,1), generic, align=4>"),
        (
            "from_dlpack(torch.zeros((4, 8), dtype=torch.bfloat16, device='cuda')).mark_layout_dynamic(leading_dim=1)",
            "tensor<bf16, (?,?):(?,1), align=2>",
        ),
        (
            "from_dlpack(torch.zeros(4, 8, 16, device='cuda'), assumed_align=16)"
            ".mark_compact_shape_dynamic(mode=2, stride_order=(0, 1, 2), divisibility=8)",
            "tensor<f32, (4,8,?{8}):(?{64},?{8},1), align=16>",
        ),
        (
            "cute.runtime.make_fake_tensor(cutlass.Float16, (cute.sym_int(), 64), (cute.sym_int64(divisibility=8), 1))",
            "tensor<f16, (?,64):(?{8},1)>",
        ),
        (
            "cute.runtime.make_fake_compact_tensor(cutlass.Int8, (2, 3), stride_order=(1, 0), assumed_align=4)",
            "tensor<i8, (2,3):(3,1), align=4>",
        ),
        ("make_ptr(cutlass.Float8E4M3FN, 0, cute.AddressSpace.gmem, assumed_align=32)", "ptr<f8e4m3, align=32>"),
        ("cuda.CUstream(torch.cuda.current_stream().cuda_stream)", "stream"),
        ("cutlass.Float32(1.5)", "f32"),
        ("(torch.empty(4, device='cuda'), cutlass.Int32(2))", "(tensor<f32, (?):(1), align=4>, i32)"),
        ("cutlass_torch.matrix(1, 32, 64, True, cutlass.Float16).cuda()", "tensor<f16, (?,?,?):(1,?,?), align=2>"),
        (
            "cutlass_torch.cute_tensor_like(cutlass_torch.matrix(2, 32, 64, False, cutlass.Float32),"
            " cutlass.Float8E5M2, is_dynamic_layout=False, assumed_align=16)[0]",
            "tensor<f8e5m2, (32,64,2):(64,1,2048), align=16>",
        ),
    ],
)
def test_arguments(tmp_path: Path, made: str, type_: str) -> None:
    (drafted,) = values(functions(tmp_path, f"cute.compile(host, {made}, None)")["host"])
    assert (drafted["a"], drafted["b"]) == (type_, None)


def test_a_program_runs_with_the_defaults_of_its_command_line(tmp_path: Path) -> None:
    host = functions(
        tmp_path,
        """
        def ints(text):
            return tuple(int(each) for each in text.split(","))

        def make(l, mode0, mode1, is_mode0_major, dtype):
            shape = (l, mode1, mode0) if is_mode0_major else (l, mode0, mode1)
            order = (2, 1, 0) if is_mode0_major else (1, 2, 0)
            tensor = torch.empty(*shape, dtype=torch.int32).permute(order).to(cutlass_torch.dtype(dtype)).cuda()
            marked = from_dlpack(tensor, assumed_align=16)
            return marked.mark_layout_dynamic(leading_dim=0 if is_mode0_major else 1), tensor

        def run(mnkl, dtype, major, tile):
            m, n, k, l = mnkl
            if m % 7 == 0:
                raise ValueError(m)
            a, _ = make(l, m, k, major == "m", dtype)
            cute.compile(host, a, None, k, tile)

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--mnkl", type=ints, default="256,128,64,2")
            parser.add_argument("--dtype", type=cutlass.dtype, default=cutlass.BFloat16)
            parser.add_argument("--major", choices=["k", "m"], default="m")
            parser.add_argument("--tile", type=int, default=32)
            args = parser.parse_args()
            run(args.mnkl, args.dtype, args.major, args.tile)
        """,
    )["host"]
    (draft,) = drafts(host, StatedValues())
    assert {name: value.value for name, value in draft.values.items()} == {
        "a": "tensor<bf16, (?,?,?):(1,?,?), align=16>",
        "b": None,
        "n": "i32",
        "TILE": 32,
    }
    assert all(value.exact for value in draft.values.values())
    assert draft.values["TILE"].where.startswith("launch in ")


def test_each_launch_of_a_loop_is_a_configuration(tmp_path: Path) -> None:
    host = functions(
        tmp_path,
        """
        tensor = torch.empty(256, device="cuda")
        for config in [{"TILE": 32}, {"TILE": 64}, {"TILE": 32}]:
            host(from_dlpack(tensor), None, **config)
        """,
    )["host"]
    configured = drafts(host, StatedValues())
    assert [draft.configuration for draft in configured] == ["TILE=32", "TILE=64"]


def test_each_value_of_an_autotuner_is_a_configuration(tmp_path: Path) -> None:
    host = functions(
        tmp_path,
        """
        from cutlass.cute import testing

        @testing.autotune_jit(params_dict={"BITS": [64, 128]})
        @cute.jit
        def tuned(a: cute.Tensor, BITS: cutlass.Constexpr = 32):
            device(a).launch(grid=(1, 1, 1), block=(BITS, 1, 1))

        tuned(torch.empty(8, device="cuda"))
        """,
    )["tuned"]
    assert [draft.configuration for draft in drafts(host, StatedValues())] == ["BITS=64", "BITS=128"]


def test_what_a_host_function_calls_an_object_with(tmp_path: Path) -> None:
    gemm = functions(
        tmp_path,
        """
        class Gemm:
            def __init__(self, tile):
                self.tile = tile

            @cute.jit
            def __call__(self, a: cute.Tensor):
                device(a).launch(grid=(1, 1, 1), block=(self.tile, 1, 1))

        @cute.jit
        def batched(gemm: cutlass.Constexpr, a: cute.Tensor):
            gemm(cute.make_tensor(a.iterator, cute.select(a.layout, mode=[1, 2, 0])))

        tensor = from_dlpack(torch.empty(2, 8, 16, device="cuda"), assumed_align=16)
        cute.compile(batched, Gemm(32), tensor)
        """,
    )["Gemm"]
    assert values(gemm) == [{"tile": 32, "a": "tensor<f32, (8,16,2):(16,1,128), align=16>"}]


def test_values_behind_a_check_that_fails_are_doubtful(tmp_path: Path) -> None:
    host = functions(
        tmp_path,
        """
        TILE = 48
        if TILE % 32 != 0:
            raise ValueError(TILE)
        cute.compile(host, torch.empty(8, device="cuda"), None, TILE=TILE)
        """,
    )["host"]
    (draft,) = drafts(host, StatedValues())
    assert (draft.values["TILE"].value, draft.values["TILE"].exact) == (48, False)


def test_a_class_is_constructed(tmp_path: Path) -> None:
    gemm = functions(
        tmp_path,
        """
        class Gemm:
            def __init__(self, acc_dtype, tile, epilogue=None):
                self.tile = tile

            @cute.jit
            def __call__(self, a: cute.Tensor, stream: cuda.CUstream, op: cutlass.Constexpr = lambda x: x):
                device(a).launch(grid=(1, 1, 1), block=(128, 1, 1))

        gemm = Gemm(cutlass.Float32, (128, 64))
        tensor = cute.runtime.from_dlpack(torch.empty(gemm.tile, device="cuda"))
        cute.compile(gemm, tensor, cutlass_torch.current_stream(), lambda x: x)
        """,
    )["Gemm"]
    (draft,) = drafts(gemm, StatedValues())
    case = draft.case(_base())
    assert dict(case.construct) == {"acc_dtype": "cutlass.Float32", "tile": [128, 64], "epilogue": None}
    assert dict(case.signature) == {"a": "tensor<f32, (128,64):(64,1), align=4>", "stream": "stream"}
    assert dict(case.constexprs) == {}


def test_a_tensor_without_dimensions_ends_nothing(tmp_path: Path) -> None:
    source = "cute.compile(host, torch.tensor(1.0).cuda(), None)\ncute.compile(host, torch.empty(4).cuda(), None)"
    drafted = values(functions(tmp_path, source)["host"])
    assert "tensor<f32, (?):(1), align=4>" in [row["a"] for row in drafted]


def test_what_cannot_be_stated_is_said(tmp_path: Path) -> None:
    host = functions(tmp_path, "cute.compile(host, torch.empty(4, device='cuda'), lambda x: x)")["host"]
    with pytest.raises(InputError, match=r"b of host: no value: a FunctionValue.*write --arg b=TYPE"):
        drafts(host, StatedValues())
    assert drafts(host, StatedValues(constexprs={"b": None}))[0].values["b"].value is None


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.parametrize('m,n', [(64, 32), (1, 2)])\ndef test(m, n):\n"
        "    host(from_dlpack(torch.empty(m, n, device='cuda')), None)",
        "def wrapper(x: torch.Tensor):\n    m, n = x.shape\n"
        "    host(from_dlpack(x).mark_layout_dynamic(leading_dim=1), None)",
    ],
)
def test_functions_that_the_main_block_does_not_reach(tmp_path: Path, source: str) -> None:
    (draft,) = drafts(functions(tmp_path, source, f"import pytest\n{HEAD}")["host"], StatedValues())
    assert str(draft.values["a"].value).startswith("tensor<")
    assert draft.values["a"].exact == ("pytest" in source)


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("from cutlass.cute.nvgpu import tcgen05", "cuda:100"),
        ("import cutlass.utils.hopper_helpers as helpers", "cuda:90"),
        ("class Sm120GemmKernel: pass", "cuda:120"),
        ("", None),
    ],
)
def test_the_gpu_that_a_source_is_for(tmp_path: Path, words: str, target: str | None) -> None:
    value = functions(tmp_path, words)["host"].target
    assert (value.value if value else None) == target


def test_guesses_by_use(tmp_path: Path) -> None:
    host = functions(
        tmp_path,
        """
        MAJOR = {"K": 0, "MN": 1}

        @cute.kernel
        def tiled(a: cute.Tensor, out: cute.Tensor, TILE: cutlass.Constexpr, MODE: cutlass.Constexpr):
            if cutlass.const_expr(MODE == "fast"):
                out[0, 0] = a[TILE[0], TILE[1]]

        @cute.jit
        def guessed(
            a: cute.Tensor, out: cute.Tensor, TILE: cutlass.Constexpr, MODE: cutlass.Constexpr,
            A_MAJOR: cutlass.Constexpr, THREADS: cutlass.Constexpr, FLAG: cutlass.Constexpr,
        ):
            major = MAJOR[A_MAJOR]
            if cutlass.const_expr(FLAG):
                pass
            tiled(a, out, TILE, MODE).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))
        """,
    )["guessed"]
    (draft,) = drafts(host, StatedValues())
    assert {name: value.value for name, value in draft.values.items()} == {
        "a": "tensor<f32, (128,128):(128,1), align=16>",
        "out": "tensor<f32, (128,128):(128,1), align=16>",
        "TILE": [64, 64],
        "MODE": "fast",
        "A_MAJOR": "K",
        "THREADS": 128,
        "FLAG": False,
    }
    assert not any(value.exact for value in draft.values.values())


def test_hostile_programs_end(tmp_path: Path) -> None:
    host = functions(
        tmp_path,
        """
        def forever(n):
            return forever(n + 1)

        while True:
            x = [0] * 10**9
        y = 2 ** 10**9
        for _ in range(10**12):
            for _ in range(10**12):
                x = "a" * 10**9
        forever(0)
        raise SystemExit
        """,
    )["host"]
    assert host.launched


def _base():  # type: ignore[no-untyped-def]
    from triage.model.case import Case, frozen

    return Case(Path(), "kernel.py", "Gemm", frozen())
