"""Jitted functions of a project, and what each parameter is: small projects that have the shapes of real ones."""

from __future__ import annotations

import gc
from pathlib import Path
from textwrap import dedent

import pytest

from triage.drafts.kernels import find
from triage.drafts.model import Basis, JitFunction, Parameter
from triage.model.errors import InputError
from triage.model.language import Language

HEADER = "import torch\nimport triton\nimport triton.language as tl\n"

ROWS = (
    HEADER
    + """
@triton.jit
def rows(Y, y_stride, X, x_stride, col_stride, n_cols, eps, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(X + row * x_stride + offs * col_stride, mask=offs < n_cols, other=0.0).to(tl.float32)
    y = x / tl.sqrt(tl.sum(x * x) / n_cols + eps)
    tl.store(Y + row * y_stride + offs, y, mask=offs < n_cols)
"""
)


def project(folder: Path, **files: str) -> Path:
    """A package ``pkg`` of these modules."""
    package = folder / "pkg"
    for name, text in {"__init__": "", **files}.items():
        path = package.joinpath(*name.split("__", 1 if not name.startswith("__") else 0)).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return package


def kernel(path: Path, name: str) -> JitFunction:
    return next(each for each in find(path) if each.name == name)


def parameters(path: Path, name: str) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in kernel(path, name).parameters}


def best(path: Path, name: str) -> dict[str, object]:
    return {name: parameter.best.value for name, parameter in parameters(path, name).items()}


@pytest.mark.parametrize(
    ("imports", "decorator"),
    [
        ("import triton", "@triton.jit"),
        ("import triton", "@triton.jit(do_not_specialize=['n'])"),
        ("import triton as tr", "@tr.autotune(configs=[], key=[])\n@tr.jit"),
        ("from triton import jit", "@jit"),
        ("from triton.runtime.jit import jit as compiled", "@compiled"),
        ("import functools, triton", "@functools.partial(triton.jit, noinline=True)"),
        ("import triton\nours = triton.jit", "@ours"),
        ("import triton\ndef ours(function):\n    return triton.jit(function)", "@ours"),
        ("import triton.language as tl\nfrom .utils import ours", "@ours"),
        ("try:\n    import triton\nexcept ImportError:\n    triton = None", "@triton.jit"),
        ("from triton.experimental import gluon", "@gluon.jit"),
    ],
)
def test_decorators_that_jit(tmp_path: Path, imports: str, decorator: str) -> None:
    package = project(
        tmp_path,
        utils="import triton\ndef ours(function):\n    return triton.jit(function)\n",
        ops=f"{imports}\n\n{decorator}\ndef add(x, n):\n    pass\n",
    )
    assert [each.name for each in find(package / "ops.py")] == ["add"]
    language = Language.GLUON if "gluon" in imports else Language.TRITON
    assert kernel(package, "add").language is language


@pytest.mark.parametrize(
    ("imports", "decorator"),
    [
        ("import torch", "@torch.jit.script"),
        ("import numba", "@numba.jit"),
        ("from numba import jit", "@jit"),
        ("import functools", "@functools.cache"),
    ],
)
def test_decorators_that_do_not(tmp_path: Path, imports: str, decorator: str) -> None:
    path = tmp_path / "ops.py"
    path.write_text(f"{imports}\n# triton.jit\n{decorator}\ndef add(x, n):\n    pass\n")
    assert find(path) == []


def test_a_function_is_jitted_by_an_assignment(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=HEADER
        + """
def _add(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs) + 1, mask=offs < n)

add = triton.heuristics({"BLOCK": lambda args: 64})(triton.jit(_add))

def launch(x):
    add[(1,)](x, x.numel())
""",
    )
    function = kernel(package, "add")
    assert (function.launched, function.heuristics) == (True, ("BLOCK",))


def test_what_is_launched_and_what_is_called(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=HEADER
        + """
@triton.jit
def called(x):
    return x * 2

@triton.jit
def combine(a, b):
    return a + b

@triton.jit
def stores(x_ptr, v):
    tl.store(x_ptr, v)

@triton.jit
def nobody(x_ptr):
    stores(x_ptr, called(tl.reduce(tl.load(x_ptr), 0, combine)))

class Op:
    @staticmethod
    @triton.jit
    def method(x_ptr):
        pass

def make(n):
    @triton.jit
    def inner(x_ptr):
        pass
    return inner
""",
    )
    functions = {each.name: each for each in find(package)}
    assert {name: each.launched for name, each in functions.items()} == {
        "called": False,
        "combine": False,
        "stores": False,
        "nobody": True,
        "method": True,
        "inner": True,
    }
    assert [name for name, each in functions.items() if each.obstacle] == ["method", "inner"]


def test_arguments_of_a_launch(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=ROWS
        + """
def norm(x, eps, bias=None):
    x = x.view(-1, x.shape[-1])
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=torch.float32, device=x.device)
    BLOCK = triton.next_power_of_2(n_cols)
    rows[(n_rows,)](y, y.stride(0), x, x.stride(0), x.stride(1), n_cols, eps, bias is not None, BLOCK, num_warps=8)
""",
        layer="from .ops import norm\ndef layer(x):\n    return norm(x, 1e-5)\n",
    )
    function = kernel(package, "rows")
    got = {parameter.name: parameter for parameter in function.parameters}
    assert {name: parameter.best.value for name, parameter in got.items()} == {
        "Y": "*fp32",
        "y_stride": "i32",
        "X": "*fp16",
        "x_stride": "i32",
        "col_stride": 1,
        "n_cols": "i32",
        "eps": "fp32",
        "HAS_BIAS": False,
        "BLOCK": 1024,
    }
    assert [value.value for value in got["X"].candidates] == ["*fp16", "*bf16", "*fp32"]
    assert got["X"].best.basis is Basis.ASSUMED, "nobody states the type of the user's tensor"
    assert (got["Y"].best.basis, got["Y"].best.where) == (Basis.LAUNCH, "launch in pkg/ops.py:18")
    assert (got["x_stride"].divisible, got["n_cols"].divisible) == (16, 16)
    assert [name for name, parameter in got.items() if parameter.innermost_stride] == ["col_stride"]
    assert got["col_stride"].candidates[1].value == "i32"
    assert function.options["num_warps"].value == 8
    assert function.launches == ("launch in pkg/ops.py:18",)


SIZES = (
    HEADER
    + """
@triton.jit
def sized(x_ptr, y_ptr, n_rows, n_cols, batch, seed, address, flag, BLOCK: tl.constexpr):
    offs = tl.program_id(0) % n_rows + tl.arange(0, BLOCK) + batch * BLOCK
    x = tl.load(x_ptr + offs, mask=offs < n_cols) * (tl.rand(seed, offs) > 0.5)
    if flag:
        tl.store(y_ptr + offs, x + tl.load(address.to(tl.pointer_type(tl.float32)) + offs))
"""
)


@pytest.mark.parametrize(
    ("launched", "divisible"),
    [
        ("", {"n_rows", "n_cols"}),
        ("sized[(1,)](x, x, x.shape[0], x.shape[1], x.shape[2], 3, 5, True, BLOCK=64)", {"n_rows", "n_cols"}),
        ("sized[(1,)](x, x, 1000, 1024, 32, 16, 5, True, BLOCK=64)", {"n_cols", "batch", "seed"}),
        ("sized[(1,)](x, x, x.stride(0), x.stride(1), 1, 5, 5, True, BLOCK=64)", {"n_rows"}),
    ],
    ids=["not launched", "sizes", "numbers", "strides"],
)
def test_integers_that_count_as_multiples_of_16(tmp_path: Path, launched: str, divisible: set[str]) -> None:
    """Sizes and outer strides, unless a launch states another number: the launcher compiles for such apart."""
    ops = SIZES + f"\n\ndef launch(x: torch.Tensor):\n    x = torch.empty_like(x)\n    {launched or 'pass'}\n"
    shown = parameters(project(tmp_path, ops=ops), "sized")
    integers = {name for name, each in shown.items() if not str(each.best.value).startswith("*")}
    assert {name for name in integers if shown[name].divisible == 16} == divisible


@pytest.mark.parametrize(
    "launch",
    [
        "rows[grid](*arguments, BLOCK=128)",
        "launched = rows\n    launched[grid](*arguments, BLOCK=128)",
        "wrap_triton(rows)[grid](*arguments, BLOCK=128)",
        "options = {'BLOCK': 128}\n    rows[grid](*arguments, **options)",
        "options = dict(BLOCK=128)\n    rows[grid](*arguments, **options)",
        "rows.run(*arguments, grid=grid, warmup=False, BLOCK=128)",
        "rows.warmup(*arguments, grid=grid, BLOCK=128)",
        "start(rows, *arguments, BLOCK=128)",
        "(rows if x.is_cuda else rows)[grid](*arguments, BLOCK=128)",
        "KERNELS[x.ndim][grid](*arguments, BLOCK=128)",
        "Launcher().launch(grid, arguments)",
    ],
)
def test_ways_to_launch(tmp_path: Path, launch: str) -> None:
    package = project(
        tmp_path,
        ops=ROWS
        + f"""
from torch.library import wrap_triton

KERNELS = {{2: rows}}

def start(kernel, *arguments, **options):
    kernel[(1,)](*arguments, **options)

class Launcher:
    def __init__(self):
        self.kernel = rows

    def launch(self, grid, arguments):
        self.kernel[grid](*arguments, BLOCK=128)

def norm(x: torch.Tensor, grid):
    y = torch.zeros_like(x, dtype=torch.bfloat16)
    arguments = (y, y.stride(0), x, x.stride(0), x.stride(-1), x.shape[1], 1e-6, False)
    {launch}
""",
    )
    values = best(package, "rows")
    assert (values["Y"], values["col_stride"], values["eps"], values["HAS_BIAS"], values["BLOCK"]) == (
        "*bf16",
        1,
        "fp32",
        False,
        128,
    )


def test_an_autograd_function_passes_its_tensors_on(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=ROWS
        + """
class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        ctx.eps = eps
        rstd = torch.empty(x.shape[0], dtype=torch.float64)
        ctx.save_for_backward(x, rstd)
        return x

    @staticmethod
    def backward(ctx, dy):
        x, rstd = ctx.saved_tensors
        rows[(1,)](rstd, rstd.stride(0), dy, dy.stride(0), 1, 64, ctx.eps, True, 64)

def norm(x):
    return Norm.apply(x.to(torch.bfloat16), 1e-5)
""",
    )
    values = best(package, "rows")
    assert (values["Y"], values["y_stride"], values["X"], values["eps"]) == ("*fp64", 1, "*bf16", "fp32"), (
        "the project names bfloat16"
    )


def test_an_argument_that_may_be_none(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=ROWS
        + """
def norm(x, weight=None, eps: float = 1e-6):
    stride = weight.stride(0) if weight is not None else 0
    rows[(1,)](weight, stride, x, x.stride(0), x.stride(1), x.shape[1], eps, weight is not None, BLOCK=64)
""",
    )
    got = parameters(package, "rows")
    assert [value.value for value in got["Y"].candidates] == ["*fp16", "*bf16", "*fp32", None]
    assert [name for name, parameter in got.items() if parameter.optional] == ["Y"]
    assert [value.value for value in got["HAS_BIAS"].candidates[:2]] == [True, False]


def test_constants_of_a_branch(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=ROWS
        + """
WIDE = 128

def norm(x, y, D: int):
    if D > 64:
        BLOCK = WIDE
    else:
        BLOCK = WIDE // 2
    rows[(1,)](y, y.stride(0), x, x.stride(0), x.stride(1), D, 0.1, True, BLOCK)
""",
    )
    assert [value.value for value in parameters(package, "rows")["BLOCK"].candidates[:2]] == [64, 128]


def test_a_kernel_that_nobody_launches(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        HEADER
        + """
@triton.jit
def helper(q, offs, scale):
    return tl.load(q + offs) * scale

@triton.jit
def attend(Q, K, Out, L, index, sm_scale, stride_qm, stride_qd, n: tl.int64, seed, FLAG: tl.constexpr,
           MODE: tl.constexpr, BLOCK: tl.constexpr, DTYPE: tl.constexpr, HEAD: tl.constexpr = 32):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, HEAD)
    row = tl.load(index + m)
    q = helper(Q, row[:, None] * stride_qm + d[None, :] * stride_qd, sm_scale)
    k = tl.load(K + d[:, None] + m[None, :] * stride_qm, mask=m[None, :] < n)
    s = tl.dot(q.to(DTYPE), k)
    if FLAG:
        s = tl.where(tl.rand(seed, m[None, :]) > 0.5, s, 0.0)
    if MODE == "exp":
        s = tl.exp(s)
    tl.store(L + m, tl.max(s, 1).to(tl.float32))
    tl.atomic_add(Out + m, 1)
"""
    )
    assert best(path, "attend") == {
        "Q": "*fp16",
        "K": "*fp16",
        "Out": "*i32",
        "L": "*fp16",
        "index": "*i64",
        "sm_scale": "fp32",
        "stride_qm": "i32",
        "stride_qd": 1,
        "n": "i64",
        "seed": "i32",
        "FLAG": True,
        "MODE": "exp",
        "BLOCK": 64,
        "DTYPE": "tl.float16",
        "HEAD": 32,
    }
    got = parameters(path, "attend")
    assert got["Q"].best.where == "address in line 7 of helper; the user's type"
    assert got["n"].best.basis is Basis.ANNOTATION
    assert got["HEAD"].best.basis is Basis.DEFAULT


def test_types_that_loops_and_branches_carry(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        HEADER
        + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, first_ptr, rest_ptr, state_ptr, mode_ptr, n, MODE: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.int32)
    last = tl.load(first_ptr + offs)
    for k in range(0, n, BLOCK):
        acc += tl.dot(tl.load(a_ptr + k + offs), tl.load(b_ptr + k + offs))
        last = tl.load(rest_ptr + k + offs) * 1.0 + tl.zeros((BLOCK,), tl.float32)
    state = tl.load(state_ptr + offs)
    if n == 1:
        state = state * tl.zeros((BLOCK,), tl.float32)
    other = tl.load(mode_ptr + offs)
    if MODE:
        other = other * tl.zeros((BLOCK,), tl.float32)
    tl.store(c_ptr + offs, acc + last + state + other.to(tl.float32))
"""
    )
    values = best(path, "kernel")
    assert (values["a_ptr"], values["b_ptr"], values["first_ptr"]) == ("*i8", "*i8", "*fp32")
    got = parameters(path, "kernel")
    assert [got[name].best.basis for name in ("state_ptr", "mode_ptr")] == [Basis.USE, Basis.ASSUMED]


def test_an_8_bit_float_of_one_vendor_comes_last(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=ROWS
        + """
FP8 = torch.float8_e4m3fnuz if torch.version.hip else torch.float8_e4m3fn

def norm(x):
    y = x.to(FP8)
    rows[(1,)](y, y.stride(0), x, x.stride(0), x.stride(1), x.shape[1], 0.1, True, BLOCK=64)
""",
    )
    assert [value.value for value in parameters(package, "rows")["Y"].candidates[:1]] == ["*fp8e4nv"]


def test_descriptors(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=HEADER
        + """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def copy(a_desc, b_desc, BLOCK: tl.constexpr):
    b_desc.store([0, 0], a_desc.load([0, 0]))

@triton.jit
def made_inside(a, out, M, N, BLOCK: tl.constexpr):
    desc = tl.make_tensor_descriptor(a, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    tl.store(out + tl.arange(0, BLOCK), tl.sum(desc.load([0, 0]), 1))

def launch(a: torch.Tensor):
    desc = TensorDescriptor(a, a.shape, a.stride(), [128, 64])
    copy[(1,)](desc, TensorDescriptor.from_tensor(a.to(torch.float8_e5m2), [32, 16]), 64)
""",
    )
    assert best(package, "copy") == {
        "a_desc": "tensordesc<fp32[128, 64]>",
        "b_desc": "tensordesc<fp8e5[32, 16]>",
        "BLOCK": 64,
    }
    assert best(package, "made_inside") == {"a": "*fp32", "out": "*fp32", "M": "i32", "N": "i32", "BLOCK": 64}


def test_configurations_and_heuristics_set_parameters(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        ops=HEADER
        + """
CONFIGS = [triton.Config({"BLOCK": 256}, num_warps=8), triton.Config({"BLOCK": 128})]

@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit(do_not_specialize=["n"])
def add(x_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs), mask=offs < n)
""",
    )
    function = kernel(package, "add")
    got = {parameter.name: parameter for parameter in function.parameters}
    assert [(value.value, value.basis) for value in got["BLOCK"].candidates[:2]] == [
        (256, Basis.CONFIG),
        (128, Basis.CONFIG),
    ]
    assert [name for name, parameter in got.items() if parameter.tuned] == ["EVEN", "BLOCK"]
    assert (function.heuristics, len(function.configs)) == (("EVEN",), 2)
    assert got["n"].divisible == 1, "the launcher does not specialize it"


def test_a_file_that_is_named_is_described_with_its_package(tmp_path: Path) -> None:
    package = project(
        tmp_path,
        kernels=ROWS,
        ops="""
            from pkg.kernels import rows
            def norm(x, y):
                rows[(1,)](y.double(), 1, x, x.stride(0), x.stride(1), 4, 0.5, True, 32)
            """,
    )
    assert best(package / "kernels.py", "rows")["Y"] == "*fp64"
    assert best(package, "rows")["BLOCK"] == 32


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")
    assert find(broken) == []
    (tmp_path / "link.py").symlink_to("/dev/zero")
    assert find(tmp_path) == []
    with pytest.raises(InputError, match="does not exist"):
        find(tmp_path / "missing.py")
    with pytest.raises(InputError, match="not a regular file"):
        find(tmp_path / "link.py")


def test_hostile_sources_end_soon(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    calls = "\n".join(
        f"@triton.jit\ndef f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x) + f{i + 1}(x) + f{i}(x)\n" for i in range(30)
    )
    hosts = "\n".join(f"def h{i}(x):\n    return h{i + 1}(h{i + 1}(x)) + h{i}(x)\n" for i in range(30))
    path.write_text(f"{HEADER}{calls}\n{hosts}\nx = x + 10 ** 10 ** 10\nf0[(1,)](h0(1 << 1 << 99999))\nA = A\n")
    assert len(find(path)) == 30
    assert gc.isenabled()


def test_host_code_that_makes_no_sense_costs_no_kernel(tmp_path: Path) -> None:
    calls = "".join(
        f"def {name}_(x):\n    y = torch.{name}()\n    rows[(1,)](y, 1, x, x.stride(0), 1, 8, 1e-5, True, 64)\n"
        for name in ("tensor", "full", "empty", "randint", "arange", "zeros_like", "cat", "where")
    )
    package = project(tmp_path, ops=f"{ROWS}\n{calls}")
    assert best(package, "rows")["n_cols"] == "i32"
    assert best(package, "rows")["BLOCK"] == 64
