"""MN-major operands loaded the other way round: where it is recognised, what it says, and where it is left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matmuls import BLOCK_POINTER, HEAD, HOST, OLD, RECOGNISED, REFUSED, STRIDED
from rewriting import changed, compile_rewrites, proposed, write

from triage.harness.engine import Engine
from triage.harness.toolchains import Toolchains
from triage.model.case import Case
from triage.model.language import Language

SIGNATURE = {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
BLOCKS = {"BM": 128, "BN": 128, "BK": 32}


def matmul(folder: Path, source: str, **signature: str) -> Case:
    return write(folder, HEAD + source, SIGNATURE | signature, BLOCKS, target="cuda:90")


def hosted(folder: Path, source: str, a: str, b: str) -> Case:
    types = {"a_desc": a, "b_desc": b, **{name: SIGNATURE[name] for name in ("c_ptr", "M", "N", "K")}}
    return write(folder, HEAD + source, types, BLOCKS, target="cuda:90")


@pytest.mark.parametrize("name", [*RECOGNISED])
def test_recognised(name: str, tmp_path: Path) -> None:
    found = proposed("operand-transposed", matmul(tmp_path, RECOGNISED[name]))
    assert found
    for rewritten in found:
        memory = set(rewritten.transposed)
        assert all(f"{argument}" in rewritten.caller for argument in memory)
        assert rewritten.results == ""
        assert memory == (set() if "pointers" in name else memory) and ("pointers" in name or memory)


@pytest.mark.parametrize("name", [*REFUSED])
def test_left_alone(name: str, tmp_path: Path) -> None:
    assert proposed("operand-transposed", matmul(tmp_path, REFUSED[name], stride="i32")) == []


def test_gluon_is_left_alone(tmp_path: Path) -> None:
    case = matmul(tmp_path, RECOGNISED["a descriptor"])
    assert proposed("operand-transposed", replace(case, language=Language.GLUON)) == []


def test_the_edits_of_a_descriptor(tmp_path: Path) -> None:
    case = matmul(tmp_path, RECOGNISED["a descriptor"])
    [rewritten] = proposed("operand-transposed", case)
    assert changed(case, rewritten) == [
        (
            "b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])",
            "b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])",
        ),
        ("b = b_desc.load([k, column])", "b = b_desc.load([column, k]).T"),
    ]


def test_all_loads_of_a_descriptor_turn_together(tmp_path: Path) -> None:
    case = matmul(tmp_path, RECOGNISED["a prologue and a loop"])
    [rewritten] = proposed("operand-transposed", case)
    assert [after for _, after in changed(case, rewritten)][1:] == [
        "b = b_desc.load([column, 0]).T",
        "b = b_desc.load([column, k + BK]).T",
    ]


def test_a_transposition_that_is_there_is_dropped(tmp_path: Path) -> None:
    case = matmul(tmp_path, RECOGNISED["A of a name, transposed in the dot"])
    [rewritten] = proposed("operand-transposed", case)
    assert [after for _, after in changed(case, rewritten)][1:] == [
        "a = a_desc.load([row, k])",
        "c = tl.dot(a, b.T, c)",
    ]


def test_a_transposition_of_what_is_read_again_stays(tmp_path: Path) -> None:
    case = matmul(tmp_path, RECOGNISED["A of a name that is read again"])
    [rewritten] = proposed("operand-transposed", case)
    assert [after for _, after in changed(case, rewritten)][1:] == ["raw = a_desc.load([row, k]).T"]


def test_a_block_pointer_reads_the_same_memory(tmp_path: Path) -> None:
    case = matmul(tmp_path, BLOCK_POINTER)
    [rewritten] = proposed("operand-transposed", case)
    assert (rewritten.transposed, rewritten.caller) == ((), "")
    assert [after for _, after in changed(case, rewritten)] == [
        "b_block = tl.make_block_ptr(b_ptr, (N, K), (1, N), (column, 0), (BN, BK), (0, 1))",
        "b = tl.load(b_block, boundary_check=(1, 0), padding_option='zero').T",
        "b_block = tl.advance(b_block, (0, BK))",
    ]


@pytest.mark.parametrize(
    "before, after",
    [
        ("boundary_check=(0, 1)", "boundary_check=CHECKED"),
        ("        b_block = tl.advance(b_block, (BK, 0))\n", "        b_block = tl.advance(b_block, STEP)\n"),
        ("        b_block = tl.advance(b_block, (BK, 0))\n", "        tl.store(b_block, b)\n"),
    ],
)
def test_a_block_pointer_whose_axes_are_not_written_out_is_left_alone(before: str, after: str, tmp_path: Path) -> None:
    assert proposed("operand-transposed", matmul(tmp_path, BLOCK_POINTER.replace(before, after))) == []


def test_the_descriptors_of_old_releases(tmp_path: Path) -> None:
    case = hosted(tmp_path, OLD, "*fp32", "*fp32")
    [rewritten] = proposed("operand-transposed", case)
    load = "b = tl._experimental_descriptor_load(b_desc, [column, k], [BN, BK], tl.float32).T"
    assert [after for _, after in changed(case, rewritten)] == [load]
    assert "the extents of the block exchanged" in rewritten.caller


def test_a_descriptor_of_the_host_changes_its_block(tmp_path: Path) -> None:
    case = hosted(tmp_path, HOST, "tensordesc<fp32[128, 32]>", "tensordesc<fp32[32, 128]>")
    [rewritten] = proposed("operand-transposed", case)
    assert rewritten.changes == {"b_desc": "tensordesc<fp32[128, 32]>"}
    assert "with the block 128, 32" in rewritten.caller


def test_a_stride_of_the_caller_s_is_named(tmp_path: Path) -> None:
    [rewritten] = proposed("operand-transposed", matmul(tmp_path, STRIDED, stride_a="i32", stride_b="i32"))
    assert "stride_b: the row stride of that matrix" in rewritten.caller


@pytest.mark.slow
def test_warp_specialized_matmuls_compile(shared_engine: Engine, toolchains: Toolchains, tmp_path: Path) -> None:
    names = ["a descriptor", "without names on the way", "a cast on the way", "tl.load_tensor_descriptor", "helpers",
             "A and B", "A of a name, transposed in the dot"]  # fmt: skip
    loop = "in tl.range(0, K, BK, warp_specialize=True)"
    cases = [matmul(tmp_path / name, RECOGNISED[name].replace("in range(0, K, BK)", loop)) for name in names]
    tried = compile_rewrites(shared_engine, toolchains.default(), cases, tmp_path / "rewritten")
    assert [name for name, ones in zip(names, tried, strict=True) if not any(one.compiled for one in ones[:1])] == []
