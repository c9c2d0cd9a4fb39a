"""From what a user types to a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import DATA, KERNELS

from triage.cases import reproducers
from triage.cases.locate import locate, parse_constant
from triage.model.case import Language
from triage.model.errors import InputError

ADD = f"{KERNELS}::add"
ARGUMENTS = {"arg": ("x_ptr=*fp32", "y_ptr=*fp32", "n=i32"), "const": ("BLOCK=128",)}


def test_a_source_with_every_option() -> None:
    case = locate(
        ADD,
        {
            **ARGUMENTS,
            "divisible": ("n=16", "y_ptr=1"),
            "num_warps": 8,
            "num_stages": 2,
            "num_ctas": 1,
            "option": ("maxnreg=64", "enable_fp_fusion=False", "allowed=('tf32','ieee')", "word=plain"),
            "target": "hip:gfx942",
        },
    )
    assert case.to_json() == {
        "schema": "triton-triage/case/1",
        "language": "triton",
        "kernel": {"file": "kernels.py", "name": "add"},
        "signature": {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"},
        "constexprs": {"BLOCK": 128},
        "divisible": {"x_ptr": 16, "y_ptr": 1, "n": 16},
        "target": "hip:gfx942",
        "options": {
            "num_warps": 8,
            "num_stages": 2,
            "num_ctas": 1,
            "maxnreg": 64,
            "enable_fp_fusion": False,
            "allowed": ["tf32", "ieee"],
            "word": "plain",
        },
        "toolchain": {},
        "origin": {},
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128", 128),
        ("-1", -1),
        ("0x80", 128),
        ("1e-6", 1e-6),
        ("True", True),
        ("None", None),
        ("'text'", "text"),
        ('"fp32"', "fp32"),
        ("(1, (2, 3))", [1, [2, 3]]),
        ("[1, 2]", [1, 2]),
        ("fp32", "tl.float32"),
        ("float32", "tl.float32"),
        ("tl.float32", "tl.float32"),
        ("tl.fp16", "tl.float16"),
        ("bf16", "tl.bfloat16"),
        ("fp8e4nv", "tl.float8e4nv"),
        ("gl.NVMMASharedLayout(128, 16, 2)", "gl.NVMMASharedLayout(128, 16, 2)"),
        ("tl.constexpr", "tl.constexpr"),
    ],
)
def test_constants(text: str, value: Any) -> None:
    found = parse_constant("NAME", text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fast", """--const NAME=fast: neither a Python literal nor a Triton dtype; for text write NAME='"fast"'"""),
        ("true", "did you mean NAME=True?"),
        ("none", "did you mean NAME=None?"),
        ("1 +", "neither a Python literal"),
        ("__import__('os')", "neither a Python literal"),
        ("(" * 500, "neither a Python literal"),
        ("{1, 2}", "--const NAME: a set cannot be a constexpr here"),
        ("{'a': 1}", "--const NAME: a dict cannot be a constexpr here"),
        ("b'x'", "--const NAME: a bytes cannot be a constexpr here"),
        ("1j", "--const NAME: a complex cannot be a constexpr here"),
        ("1e999", "--const NAME: inf is not a number that JSON can hold"),
        (str(1 << 64), "--const NAME: does not fit into 64 bits"),
    ],
)
def test_what_is_no_constant_is_told_the_mend(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_constant("NAME", text)
    assert told in str(caught.value)


@pytest.mark.parametrize("text", [str(reproducers.folder("wgmma-tf32-mn-major")), "wgmma-tf32-mn-major"])
def test_a_folder_and_a_name_are_the_same_reproducer(text: str) -> None:
    assert locate(text) == locate(f"{reproducers.folder('wgmma-tf32-mn-major')}/case.json")


def test_options_change_a_stored_case() -> None:
    case = locate(
        str(DATA / "ok.json"),
        {
            "arg": ("n=i64", "extra=i32"),
            "const": ("BLOCK=256", "y_ptr=None"),
            "divisible": ("n=16",),
            "num_warps": 2,
            "target": "cuda:80",
        },
    )
    assert case.signature == {"x_ptr": "*fp32", "n": "i64", "extra": "i32"}
    assert case.constexprs == {"BLOCK": 256, "y_ptr": None}, "an argument is one or the other: the last word counts"
    assert case.divisibility() == {"x_ptr": 16, "n": 16}
    assert (case.options, str(case.target)) == ({"num_warps": 2}, "cuda:80")


def test_without_options_a_stored_case_stays_as_it_is() -> None:
    assert locate("wgmma-tf32-mn-major", {"arg": (), "num_warps": None}) == locate("wgmma-tf32-mn-major")


GLUON = """
import triton
import triton.experimental.gluon as written_out
from triton.experimental import gluon
from triton.experimental.gluon import jit as gluon_jit

@gluon.jit
def by_module(): ...

@gluon_jit
def by_name(): ...

@written_out.jit(noinline=True)
def by_call(): ...

@triton.jit
def plain(): ...

def undecorated(): ...

assigned = gluon.jit(undecorated)
"""


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("by_module", Language.GLUON),
        ("by_name", Language.GLUON),
        ("by_call", Language.GLUON),
        ("plain", Language.TRITON),
        ("assigned", Language.GLUON),
    ],
)
def test_the_language_is_the_decorator_s(tmp_path: Path, name: str, language: Language) -> None:
    (tmp_path / "both.py").write_text(GLUON)
    assert locate(f"{tmp_path}/both.py::{name}").language is language


BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "unknown": ("wgmma-tf32-mn-majr", {}, "no such case; did you mean the reproducer wgmma-tf32-mn-major?"),
    "nothing like it": ("zzz", {}, "zzz: no such case; give kernel.py::function, a case folder, its case.json or a"),
    "empty": ("", {}, "an empty name: no such case"),
    "too long": ("a" * 300, {}, "no such case"),
    "a path is no reproducer": ("../reproducers/wgmma-tf32-mn-major", {}, "no such case"),
    "a source without a kernel": (str(KERNELS), {}, "name the kernel as well: "),
    "no such source": ("nowhere.py::add", {}, "nowhere.py: no such file"),
    "no name": (f"{KERNELS}::", {}, "after '::' comes the name of a kernel"),
    "no such kernel": (f"{KERNELS}::nope", {}, "defines no function 'nope'; it defines add, undefined"),
    "argument twice": (ADD, {"arg": ("n=i32", "n=i64")}, "--arg n: given twice"),
    "constant twice": (ADD, {"const": ("B=1", "B=2")}, "--const B: given twice"),
    "argument and constant": (ADD, {"arg": ("n=i32",), "const": ("n=1",)}, "--const n: also given as --arg"),
    "no type": (ADD, {"arg": ("n",)}, "--arg 'n': write --arg NAME=TYPE, such as --arg a_ptr=*fp16"),
    "bad type": (ADD, {"arg": ("n=int",)}, "--arg n: expected a Triton type"),
    "no name for a constant": (ADD, {"const": ("3=4",)}, "--const '3=4': write --const NAME=VALUE"),
    "divisor": (ADD, {**ARGUMENTS, "divisible": ("n=8",)}, "--divisible n: expected 16"),
    "divisor text": (ADD, {**ARGUMENTS, "divisible": ("n=\N{SUPERSCRIPT TWO}",)}, "--divisible n: expected 16"),
    "divisor of nothing": (ADD, {**ARGUMENTS, "divisible": ("m=16",)}, "--divisible m: not an argument given"),
    "target": (ADD, {"target": "h100"}, "--target 'h100': write cuda:NN"),
    "warps": (ADD, {"num_warps": 3}, "--num-warps: must be a power of two"),
    "stages": (ADD, {"num_stages": -1}, "--num-stages: expected a positive integer, found -1"),
    "warps twice": (ADD, {"num_warps": 4, "option": ("num_warps=8",)}, "--option num_warps: also given as --num-warps"),
    "option": (ADD, {"option": ("x",)}, "--option 'x': write --option NAME=VALUE"),
    "option value": (ADD, {"option": ("x={1: 2}",)}, "--option x: a dict cannot be a constexpr here"),
}


@pytest.mark.parametrize(("text", "options", "told"), BAD.values(), ids=BAD.keys())
def test_a_mistake_is_told_with_the_mend(text: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        locate(text, options)
    assert told in str(caught.value)
