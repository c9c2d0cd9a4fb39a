"""From what a user types to a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import DATA, KERNELS
from golden_files import Golden

from triage.cases import reproducers
from triage.cases.locate import locate
from triage.cases.stated import stated_values
from triage.model.errors import InputError
from triage.model.language import Language

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
    found = stated_values({"const": [f"NAME={text}"]}).constexprs["NAME"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        "fast",
        "true",
        "none",
        "1 +",
        "__import__('os')",
        "(" * 500,
        "{1, 2}",
        "{'a': 1}",
        "b'x'",
        "1j",
        "1e999",
        str(1 << 64),
    ],
    ids=lambda text: text[:40],
)
def test_errors_of_constants(golden: Golden, text: str) -> None:
    with pytest.raises(InputError) as caught:
        stated_values({"const": [f"NAME={text}"]})
    golden(str(caught.value))


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


BAD: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown": ("wgmma-tf32-mn-majr", {}),
    "nothing like it": ("zzz", {}),
    "empty": ("", {}),
    "too long": ("a" * 300, {}),
    "a path is no reproducer": ("../reproducers/wgmma-tf32-mn-major", {}),
    "a source without a kernel": (str(KERNELS), {}),
    "no such source": ("nowhere.py::add", {}),
    "no name": (f"{KERNELS}::", {}),
    "no such kernel": (f"{KERNELS}::nope", {}),
    "argument twice": (ADD, {"arg": ("n=i32", "n=i64")}),
    "constant twice": (ADD, {"const": ("B=1", "B=2")}),
    "argument and constant": (ADD, {"arg": ("n=i32",), "const": ("n=1",)}),
    "no type": (ADD, {"arg": ("n",)}),
    "bad type": (ADD, {"arg": ("n=int",)}),
    "no name for a constant": (ADD, {"const": ("3=4",)}),
    "divisor": (ADD, {**ARGUMENTS, "divisible": ("n=8",)}),
    "divisor text": (ADD, {**ARGUMENTS, "divisible": ("n=\N{SUPERSCRIPT TWO}",)}),
    "divisor of nothing": (ADD, {**ARGUMENTS, "divisible": ("m=16",)}),
    "target": (ADD, {"target": "h100"}),
    "warps": (ADD, {"num_warps": 3}),
    "stages": (ADD, {"num_stages": -1}),
    "warps twice": (ADD, {"num_warps": 4, "option": ("num_warps=8",)}),
    "option": (ADD, {"option": ("x",)}),
    "option value": (ADD, {"option": ("x={1: 2}",)}),
}


@pytest.mark.parametrize(("text", "options"), BAD.values(), ids=BAD.keys())
def test_errors(golden: Golden, text: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        locate(text, options)
    golden(str(caught.value))
