"""What the legality rules predict for configurations, and which neighbours that excludes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from triage.cases import reproducers
from triage.frontends import documents
from triage.model.case import Case, frozen
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.target import Target
from triage.source import parameters
from triage.suggest.neighbours import neighbours
from triage.suggest.predictions import loads, predict
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.scene import Scene

POINTERS = """
@triton.jit
def matmul(a_ptr, b_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, BLOCK_M)[:, None])
    b = tl.load(b_ptr + tl.arange(0, BLOCK_N)[None, :])
    tl.dot(a, b)
"""
DESCRIPTORS = """
@triton.jit
def matmul(a_ptr, b_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, WS: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    for k in tl.range(0, K, BLOCK_K, warp_specialize=WS):
        a = a_desc.load([0, k])
        b = b_desc.load([k, 0])
        acc = tl.dot(a, b, acc)
"""
OLD_DESCRIPTORS = """
@triton.jit
def matmul(a_ptr, b_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    for k in range(0, K, BLOCK_K):
        a = tl._experimental_descriptor_load(a_ptr, [0, k], [BLOCK_M, BLOCK_K], tl.float32)
        b = tl._experimental_descriptor_load(b_ptr, [k, 0], [BLOCK_K, BLOCK_N], tl.float32)
        acc = tl.dot(a, b, acc, PRECISION)
"""
OLD_TF32 = OLD_DESCRIPTORS.replace(", PRECISION", "")
OLD_K_MAJOR = OLD_TF32.replace("[k, 0], [BLOCK_K, BLOCK_N]", "[0, k], [BLOCK_N, BLOCK_K]").replace("(a, b,", "(a, b.T,")


def a_case(text: str, folder: Path, triton: str, dtype: str, target: str = "cuda:90", **changes: Any) -> Case:
    (folder / "kernel.py").write_text(text)
    tile = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, **({"WS": False} if "WS" in text else {})}
    case = Case(
        folder,
        "kernel.py",
        "matmul",
        frozen({"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}"}),
        frozen(tile),
        target=Target.parse(target),
        triton=triton,
    )
    return case.with_changes(changes)


def scene_of(case: Case, message: str = "", kind: Kind = Kind.ASSERTION) -> Scene:
    text = case.path.read_text(encoding="utf-8")
    return Scene.of(case, text, Diagnosis(kind, message, message, stage="llir"), "")


def broken(case: Case, changes: dict[str, Any] | None = None) -> list[str]:
    scene = scene_of(case)
    subject = Subject.of(scene, case.path.read_text(encoding="utf-8"))
    predicted = predict(case, scene.source, changes or {}, loads(subject))
    return sorted({prediction.violation.rule for prediction in predicted})


@pytest.mark.parametrize(
    ("text", "triton", "dtype", "changes", "rules"),
    [
        (POINTERS, "3.4.0", "fp16", {}, []),
        (POINTERS, "3.4.0", "fp16", {"num_warps": 64}, ["launch.num-warps"]),
        (POINTERS, "3.4.0", "fp16", {"num_ctas": 2, "target": "cuda:80"}, ["launch.num-ctas"]),
        (POINTERS, "3.4.0", "fp16", {"BLOCK_K": 8}, ["dot.k"]),
        (POINTERS, "3.4.0", "fp16", {"BLOCK_M": 3}, ["dot.m"]),
        (POINTERS, "3.9.0", "fp16", {"BLOCK_M": 256, "BLOCK_N": 256, "num_stages": 6}, ["smem.total"]),
        (POINTERS, "3.9.0", "fp16", {"BLOCK_M": 256, "BLOCK_N": 256, "num_stages": 2}, []),
        # TMA leaves B as it lies in memory. 16-bit types may be MN-major, and pointers go through registers.
        (OLD_TF32, "3.2.0", "fp32", {}, ["wgmma.b-major"]),
        (OLD_TF32, "3.2.0", "fp32", {"num_warps": 8, "BLOCK_N": 32}, ["wgmma.b-major"]),
        (OLD_TF32, "3.2.0", "fp16", {}, []),
        (POINTERS, "3.2.0", "fp32", {}, []),
        (OLD_K_MAJOR, "3.2.0", "fp32", {}, []),
        # Without a pipeline, and from 3.3 on, Triton transposes; with two warps or 32 rows there is no wgmma.
        (OLD_TF32, "3.2.0", "fp32", {"num_stages": 1}, []),
        (OLD_TF32, "3.3.0", "fp32", {}, []),
        (OLD_TF32, "3.2.0", "fp32", {"num_warps": 2}, []),
        (OLD_TF32, "3.2.0", "fp32", {"BLOCK_M": 32}, []),
        (OLD_TF32, "3.2.0", "fp32", {"target": "cuda:89"}, []),
        (DESCRIPTORS, "3.9.0", "fp32", {}, []),
        (DESCRIPTORS, "3.9.0", "fp32", {"WS": True}, ["wgmma.b-major"]),
        (DESCRIPTORS, "3.9.0", "fp16", {"BLOCK_N": 4}, ["tma.block-row"]),
        (
            DESCRIPTORS,
            "3.9.0",
            "fp16",
            {"BLOCK_M": 128, "BLOCK_N": 1024, "BLOCK_K": 16, "num_stages": 2, "target": "cuda:100"},
            ["tmem.columns"],
        ),
    ],
)
def test_rules_that_a_change_breaks(
    tmp_path: Path, text: str, triton: str, dtype: str, changes: dict[str, Any], rules: list[str]
) -> None:
    assert broken(a_case(text, tmp_path, triton, dtype), changes) == rules


def test_what_cannot_be_read_is_not_judged(tmp_path: Path) -> None:
    ieee = OLD_TF32.replace("(a, b, acc)", "(a, b, acc, allow_tf32=False)")
    assert broken(a_case(ieee, tmp_path, "3.2.0", "fp32")) == []
    cast = OLD_TF32.replace("(a, b, acc)", "(a, b.to(tl.float16), acc)")
    assert broken(a_case(cast, tmp_path, "3.2.0", "fp32")) == []
    two = OLD_TF32 + "        acc = tl.dot(b, a, acc)\n"
    assert broken(a_case(two, tmp_path, "3.2.0", "fp32")) == []
    source = parameters.read("no Python (", "matmul")
    assert predict(a_case(OLD_TF32, tmp_path, "3.2.0", "fp32"), source, {}, ()) == []


def reproducer(name: str) -> Case:
    folder = reproducers.folder(name)
    assert folder is not None
    return documents.load(folder)


def changes(case: Case, message: str, kind: Kind = Kind.ASSERTION) -> list[dict[str, Any]]:
    text = case.path.read_text(encoding="utf-8")
    diagnosis = Diagnosis(kind, message, message, stage="llir")
    return [dict(found.changes) for found in neighbours(case, text, diagnosis)]


def test_the_flagship_is_predicted_before_any_compile() -> None:
    case = reproducer("wgmma-tf32-mn-major")
    scene = scene_of(case)
    [prediction] = predict(case, scene.source, {}, loads(Subject.of(scene, case.path.read_text())))
    violation = prediction.violation
    assert (violation.rule, violation.given, violation.nearest) == ("wgmma.b-major", "mn", ("k",))
    assert "K-major only" in violation.message


def test_a_confirmed_violation_excludes_what_keeps_it() -> None:
    case = reproducer("wgmma-tf32-mn-major")
    tried = changes(case, 'Assertion `supported && "WGMMA type or shape is not supported"\' failed')
    for legal in ({"num_stages": 1}, {"num_warps": 2}, {"BLOCK_M": 32}, {"num_warps": 1}, {"BLOCK_M": 16}):
        assert legal in tried
    assert {"num_stages": 1} in tried[:2]
    for illegal in ({"num_warps": 8}, {"num_stages": 2}, {"BLOCK_M": 256}, {"BLOCK_N": 64}, {"BLOCK_K": 64}):
        assert illegal not in tried


def test_a_violation_that_the_failure_does_not_confirm_only_orders() -> None:
    case = reproducer("wgmma-tf32-mn-major")
    tried = changes(case, "something else")
    assert tried.index({"num_warps": 2}) < tried.index({"num_warps": 8})
    # A warp-specialized loop may be cut into partitions that a rule does not know: eight warps compile.
    specialized = replace(reproducer("wgmma-mn-major-warp-specialized"), triton="3.9.0")
    tried = changes(specialized, 'Assertion `supported && "WGMMA type or shape is not supported"\' failed')
    assert tried[0] == {"WARP_SPECIALIZE": False}
    assert {"num_warps": 8} in tried


def test_shared_memory_is_confirmed_by_the_number_that_the_failure_names() -> None:
    case = reproducer("shared-memory-sm86")
    message = "out of resource: shared memory, Required: {}, Hardware limit: 101376."
    tried = changes(case, message.format(131072), Kind.OUT_OF_RESOURCES)
    assert tried[0] == {"num_stages": 4}, "98304 bytes"
    assert {"num_warps": 4} not in tried, "as many bytes as with eight"
    unconfirmed = changes(case, message.format(140000), Kind.OUT_OF_RESOURCES)
    assert {"num_warps": 4} in unconfirmed
