"""A case on disk: the fields that are read, the errors of those that are refused, and neighbours of a case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden_files import Golden

from triage.frontends import documents
from triage.frontends.triton import check_type
from triage.model.case import Case, frozen
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.target import Target

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def add(x_ptr, n, BLOCK: tl.constexpr):
    pass

renamed = add
"""
DOCUMENT: dict[str, Any] = {
    "schema": "triton-triage/case/1",
    "language": "triton",
    "kernel": {"file": "kernel.py", "name": "add"},
    "signature": {"x_ptr": "*fp32", "n": "i32"},
    "constexprs": {"BLOCK": 128},
    "divisible": {"n": 16},
    "target": "cuda:90",
    "options": {"num_warps": 4},
    "toolchain": {"triton": "3.2.0"},
    "origin": {"issue": 1},
}
ABSENT = object()


def folder_with(tmp_path: Path, **fields: Any) -> Path:
    """A case folder: the document above with ``fields`` in place of its own."""
    document = {name: value for name, value in {**DOCUMENT, **fields}.items() if value is not ABSENT}
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "case.json").write_text(json.dumps(document))
    return tmp_path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        documents.load(path)
    return str(caught.value)


def test_a_folder_and_its_case_json_are_the_same_case(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    case = documents.load(folder)
    assert case == documents.load(folder / "case.json")
    assert case.path == folder / "kernel.py"
    assert (case.target, case.language, case.triton) == (Target("cuda", "90"), Language.TRITON, "3.2.0")


def test_what_is_read_is_written_again_with_the_divisors_it_means(tmp_path: Path) -> None:
    written = documents.load(folder_with(tmp_path)).to_json()
    assert written == {**DOCUMENT, "divisible": {"n": 16, "x_ptr": 16}}
    assert documents.checked(written, tmp_path, "again").to_json() == written


def test_fields_that_may_be_left_out(tmp_path: Path) -> None:
    rest = dict.fromkeys(["language", "constexprs", "divisible", "options", "toolchain", "origin"], ABSENT)
    case = documents.load(folder_with(tmp_path, **rest))
    assert case.language is Language.TRITON
    assert case.divisibility() == {"x_ptr": 16}
    assert case.triton is None


def test_a_stated_divisor_of_1_takes_the_pointers_default_back(tmp_path: Path) -> None:
    assert documents.load(folder_with(tmp_path, divisible={"x_ptr": 1})).divisibility() == {"x_ptr": 1}


BAD_FIELDS: dict[str, dict[str, Any]] = {
    "schema": {"schema": "triton-triage/case/9"},
    "no schema": {"schema": ABSENT},
    "unknown field": {"kernels": {}},
    "language": {"language": "opencl"},
    "cute": {"language": "cute", "divisible": {}},
    "no kernel": {"kernel": ABSENT},
    "kernel": {"kernel": "kernel.py"},
    "no file": {"kernel": {"name": "add"}},
    "name": {"kernel": {"file": "kernel.py", "name": "a.b"}},
    "missing file": {"kernel": {"file": "no.py", "name": "add"}},
    "parent": {"kernel": {"file": "../k.py", "name": "add"}},
    "absolute": {"kernel": {"file": "/etc/group", "name": "add"}},
    "null byte": {"kernel": {"file": "a\0b", "name": "add"}},
    "too long": {"kernel": {"file": "a" * 300, "name": "add"}},
    "no signature": {"signature": ABSENT},
    "type": {"signature": {"n": 32}},
    "type text": {"signature": {"n": "float*"}},
    "divisor": {"divisible": {"n": 8}},
    "divisor true": {"divisible": {"n": True}},
    "divisor of nothing": {"divisible": {"m": 16}},
    "both": {"constexprs": {"n": 1}},
    "object constant": {"constexprs": {"BLOCK": {}}},
    "infinite constant": {"constexprs": {"BLOCK": float("inf")}},
    "huge constant": {"constexprs": {"BLOCK": [10**30]}},
    "no target": {"target": ABSENT},
    "target": {"target": "h100"},
    "warps": {"options": {"num_warps": 3}},
    "no warps": {"options": {"num_warps": 0}},
    "stages": {"options": {"num_stages": "3"}},
    "toolchain": {"toolchain": {"triton": 3.2}},
    "origin": {"origin": []},
}  # fmt: skip


@pytest.mark.parametrize("fields", BAD_FIELDS.values(), ids=BAD_FIELDS.keys())
def test_a_wrong_field_is_named_with_its_file_and_the_fix(
    tmp_path: Path, golden: Golden, fields: dict[str, Any]
) -> None:
    text = refusal(folder_with(tmp_path, **fields))
    golden(text)
    assert text.startswith(f"{tmp_path / 'case.json'}: ")


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(KERNEL)
    inside = tmp_path / "case"
    inside.mkdir()
    folder_with(inside, kernel={"file": "link.py", "name": "add"})
    (inside / "link.py").symlink_to(outside)
    assert "kernel.file: 'link.py' leaves the case folder" in refusal(inside)
    (inside / "link.py").unlink()
    (inside / "link.py").symlink_to("link.py")
    assert "kernel.file: " in refusal(inside)


def test_the_file_that_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links stay, as siblings are beside them; only one from outside of a package to its module is that module."""
    for name in ("package", "linked"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "package" / "kernel.py").touch()
    (tmp_path / "kernel.py").touch()
    (tmp_path / "plain.py").symlink_to("kernel.py")
    (tmp_path / "linked" / "kernel.py").symlink_to("../kernel.py")
    (tmp_path / "into.py").symlink_to("package/kernel.py")
    monkeypatch.chdir(tmp_path / "package")
    for file, imported in {
        "kernel.py": "package/kernel.py",
        "../plain.py": "plain.py",
        f"{tmp_path}/plain.py": "plain.py",
        f"{tmp_path}/linked/kernel.py": "linked/kernel.py",
        f"{tmp_path}/into.py": "package/kernel.py",
    }.items():
        case = Case(Path(file).parent, Path(file).name, "k", frozen())
        assert case.location == tmp_path / imported, file


BAD_FILES: dict[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "a list": b"[]",
    "a pickle": b"\x80\x04\x95\x00",
    "deep": b"[" * 100_000,
    "a number of 5000 digits": b'{"target": 1' + b"0" * 5000 + b"}",
}


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_file_that_is_not_a_case(tmp_path: Path, golden: Golden, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "case.json").write_bytes(content)
    golden(refusal(tmp_path))


def test_a_device_is_not_read() -> None:
    assert "not a regular file" in refusal(Path("/dev/zero"))


BAD_SOURCES = {
    "no such function": b"def f(): ...\ndef g(): ...",
    "empty": b"",
    "syntax error": b"x = 1\ndef add(:",
    "binary": b"\x7fELF\0\0",
}


@pytest.mark.parametrize("content", BAD_SOURCES.values(), ids=BAD_SOURCES.keys())
def test_a_source_without_the_kernel(tmp_path: Path, golden: Golden, content: bytes) -> None:
    folder = folder_with(tmp_path)
    (folder / "kernel.py").write_bytes(content)
    golden(refusal(folder))


@pytest.mark.parametrize("name", ["add", "renamed"])
def test_a_kernel_may_be_defined_or_bound(tmp_path: Path, name: str) -> None:
    assert documents.load(folder_with(tmp_path, kernel={"file": "kernel.py", "name": name})).name == name


TYPES = {
    "scalars": ["i1", "u1", "i8", "i32", "u64", "fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5", "B"],
    "pointers": ["*fp32", "*i1", "*kfp16", "**fp32"],
    "descriptors": [
        "tensordesc<fp16[128, 64]>",
        "tensordesc<fp16[128,64],NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)>",
        "tensordesc_im2col<fp16[64, 64],input_rank=4>",
        "nvTmaDesc",
    ],
}


@pytest.mark.parametrize("text", [one for group in TYPES.values() for one in group])
def test_types(text: str) -> None:
    check_type(text, InputError)


@pytest.mark.parametrize(
    "text",
    ["", "*", "float32*", "int", "i32 ", "fp32[128]", "tensordesc<>", "tensordesc<fp16[]>", "i32\n",
     # Triton hands the text of a layout to eval().
     "tensordesc<fp16[1],print(1)(2)>", "tensordesc<fp16[1],f(__import__('os'))>", "tensordesc<fp16[1],[1]>"],
)  # fmt: skip
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(InputError, match="expected a Triton type"):
        check_type(text, InputError)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return documents.load(folder_with(tmp_path))


def test_a_neighbour_puts_each_name_where_it_belongs(case: Case) -> None:
    neighbour = case.with_changes(
        {"BLOCK": 64, "n": "i64", "num_stages": 2, "num_warps": 8, "target": "cuda:80", "triton": "3.3.0"}
    )
    assert neighbour.constexprs == {"BLOCK": 64}
    assert neighbour.signature == {"x_ptr": "*fp32", "n": "i64"}
    assert neighbour.options == {"num_warps": 8, "num_stages": 2}
    assert (str(neighbour.target), neighbour.triton) == ("cuda:80", "3.3.0")
    assert case.constexprs == {"BLOCK": 128}, "a case never changes"


def test_a_name_that_belongs_nowhere_is_an_error(case: Case) -> None:
    with pytest.raises(KeyError, match="BLOCK_Z"):
        case.with_changes({"BLOCK_Z": 1})


def test_identity_is_what_is_compiled(case: Case, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    same = documents.load(folder_with(elsewhere, origin={}, toolchain={}, divisible={"n": 16, "x_ptr": 16}))
    assert same.identity() == case.identity()
    assert case.with_changes({"BLOCK": 64}).identity() != case.identity()
    (elsewhere / "kernel.py").write_text(KERNEL + "# a comment moves lines\n")
    assert same.identity() != case.identity()
