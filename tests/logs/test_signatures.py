"""One bug, one signature. Logs are those in `data`; a name is a case, `@` its release."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from rows import each_row

from triage.logs import diagnose_text, explain, signature_of
from triage.logs.rewordings import REWORDINGS
from triage.logs.signature import COMMON, MESSAGE

DATA = Path(__file__).parent / "data"


def signature(text: str) -> str:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None, text
    return diagnosis.signature


def of_log(name: str) -> str:
    return signature((DATA / f"{name}.log").read_text())


#: The same bug as different releases show it: gcc's and clang's spellings, moved lines, reworded checks.
EQUAL_LOGS = [
    ("amd-float-xor-cannot-select@3.0.0", "amd-float-xor-cannot-select@3.3.1"),
    ("asm-ptx-on-amd@3.0.0", "asm-ptx-on-amd@3.9.0"),
    ("cluster-bmm-cga-rank@3.3.1", "cluster-bmm-cga-rank@3.4.0"),
    ("device-assert-float-debug@3.2.0", "device-assert-float-debug@3.8.0"),
    ("dot-operand-dtype-mismatch@3.0.0", "dot-operand-dtype-mismatch@3.2.0"),
    ("fp8-attn-bn16-segfault@3.3.1", "fp8-attn-bn16-segfault@3.5.1"),
    ("fp8-rowsum-packll@3.2.0", "fp8-rowsum-packll@3.3.1"),
    ("fp8e4nv-on-ampere@3.0.0", "fp8e4nv-on-ampere@3.2.0"),
    ("gluon-amd-buffer-load-on-cuda@3.5.1", "gluon-amd-buffer-load-on-cuda@3.6.0"),
    ("gluon-tcgen05-block-m-mismatch@3.5.1", "gluon-tcgen05-block-m-mismatch@3.9.0"),
    ("gluon-tmem-load-layout@3.5.1", "gluon-tmem-load-layout@3.8.0"),
    ("gluon-wgmma-acc-layout-2d-instr@3.5.1", "gluon-wgmma-acc-layout-2d-instr@3.8.0"),
    ("hip-input-precision-tf32x3@3.0.0", "hip-input-precision-tf32x3@3.6.0"),
    ("int-hash-fma-verifier@3.0.0", "int-hash-fma-verifier@3.3.1"),
    ("tensor-python-slice@3.2.0", "tensor-python-slice@3.6.0"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL_LOGS)
def test_the_same_bug_over_releases(one: str, other: str) -> None:
    assert of_log(one) == of_log(other)


#: The same bug in two configurations, or on two machines.
EQUAL_TEXTS = [
    (
        "python: /a/A.cpp:1: void f(): Assertion `x' failed.",
        "python3.12: /b/c/A.cpp:99: void g::f(): Assertion `x' failed.",
    ),
    ("k.py:1:2: error: 'tt.x' op got 'tensor<128x1xi32>'", "a/b.py:9:9: error: 'tt.x' op got 'tensor<16xi64>'"),
    ("k.py:1:2: error: bad layout #blocked3 of %12", "k.py:1:2: error: bad layout #blocked of %arg4"),
    ("k.py:1:2: error: bad #ttg.blocked<{a = [1, 2]}>", "k.py:1:2: error: bad #ttg.blocked<{a = [4]}>"),
    ("k.py:1:2: error: tile 128x64 over 4096", "k.py:1:2: error: tile 32x16 over 512"),
    ("LLVM ERROR: Cannot select: 0x55d1: f32 = t12", "LLVM ERROR: Cannot select: 0x7f00aa: f32 = t7"),
    ("ValueError: atomic_or does not support int8", "ValueError: atomic_or does not support uint16"),
    (
        "AssertionError: cannot reassign constxpr a in the loop",
        "AssertionError: cannot reassign constexpr b in the loop",
    ),
    ("k.py:1:2: error: bad layout", "k.py:1:2: error: bad layout, but got 'i8'"),
    ("NameError: name 'BLOCK' is not defined", "NameError: name 'scale' is not defined"),
    (
        "AssertionError: Loop-carried variable dw has initial type <[64], fp16> but",
        "AssertionError: Loop-carried variable acc has initial type <['128'], bf16> but",
    ),
    ("KeyError: 'rope.angles.depth_of__Pi32_i32'", "KeyError: 'kernel.depth__PPfp16_u64_i1__(2,)cconstexpr_16_'"),
    (
        "ValueError: Expected dtype ['fp32', 'fp64'] but got bf16",
        "ValueError: Expected dtype ['fp32'] but got int32",
    ),
    ("ptxas fatal   : Value 'sm_121a' is not defined", "ptxas fatal   : Value 'sm_100' is not defined"),
    ("ptxas fatal   : failed on /tmp/tmpab12cd34.ptx", "ptxas fatal   : failed on /var/x/tmpzz99yy88.ptx"),
    (
        "OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376",
        "out of resource: shared memory, Required: 70000, Hardware limit: 65536.",
    ),
]


@pytest.mark.parametrize(("one", "other"), EQUAL_TEXTS)
def test_the_same_bug_over_configurations(one: str, other: str) -> None:
    assert signature(one) == signature(other)


#: Bugs that look alike.
DIFFERENT_TEXTS = [
    ("x: A.cpp:1: void f(): Assertion `a == 16' failed.", "x: A.cpp:1: void f(): Assertion `a == 32' failed."),
    ("x: A.cpp:1: void f(): Assertion `a' failed.", "x: B.cpp:1: void f(): Assertion `a' failed."),
    ("x: A.cpp:1: void f(): Assertion `false' failed.", "x: A.cpp:9: void g(): Assertion `false' failed."),
    ("LLVM ERROR: Cannot select: intrinsic %llvm.a.b", "LLVM ERROR: Cannot select: intrinsic %llvm.a.c"),
    ("k.py:1:2: error: 'tt.x' op operand #0 bad", "k.py:1:2: error: 'tt.x' op operand #1 bad"),
    ("k.py:1:2: error: 'tt.x' op bad", "k.py:1:2: error: 'tt.y' op bad"),
    ("ValueError: Expected dtype ['fp32', 'fp64']", "ValueError: Expected dtype ['int32', 'int64', 'uint32']"),
    ("AttributeError: module 'a.b' has no attribute 'c'", "AttributeError: module 'a.b' has no attribute '__init__'"),
    ("ValueError: atomic_or does not support int8", "ValueError: atomic_add does not support int8"),
    ("TypeError: f() got an unexpected keyword argument 'a'", "TypeError: f() got an unexpected keyword argument 'b'"),
    ("reason a\nUNREACHABLE executed at /b/A.cpp:1!", "reason b\nUNREACHABLE executed at /b/A.cpp:1!"),
    ("k.py:1:2: error: first\nLLVM ERROR: Failed:\nx", "k.py:1:2: error: second\nLLVM ERROR: Failed:\nx"),
    ("Segmentation fault", "Aborted (core dumped)"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT_TEXTS)
def test_different_bugs(one: str, other: str) -> None:
    assert signature(one) != signature(other)


#: Cases whose signatures are all different: one log of each, on a release where it shows its own bug.
DIFFERENT_LOGS = [
    "amd-bf16-buffer-atomic@3.0.0",
    "amd-float-xor-cannot-select@3.0.0",
    "asm-constraint-count@3.0.0",
    "asm-operand-number@3.0.0",
    "asm-ptx-on-amd@3.9.0",
    "atomic-int8-unsupported@3.0.0",
    "break-in-loop@3.0.0",
    "cluster-bmm-cga-rank@3.3.1",
    "cluster-dot-gather-mapa@3.5.1",
    "cluster-dot-sort-reduce@3.3.1",
    "cluster-gram-same-operand@3.9.0",
    "cluster-row-cumsum-one-warp@3.0.0",
    "cluster-sort-reshape@3.9.0",
    "cluster-tma-flip-mmav3-block@3.9.0",
    "device-assert-float-debug@3.0.0",
    "device-assert-float-debug@3.2.0",
    "dot-operand-dtype-mismatch@3.2.0",
    "exp-needs-float@3.0.0",
    "fp8-attn-bn16-segfault@3.0.0",
    "fp8-attn-bn16-segfault@3.2.0",
    "fp8-attn-bn16-segfault@3.3.1",
    "fp8-rowsum-packll@3.2.0",
    "fp8-rowsum-packll@3.8.0",
    "fp8-topk-router-fcmp@3.4.0",
    "fp8e4nv-on-ampere@3.2.0",
    "gluon-mma-v2-kwidth@3.6.0",
    "gluon-wgmma-acc-layout-2d-instr@3.8.0",
    "gluon-wgmma-instr-n-too-large@3.6.0",
    "gluon-wgmma-m32@3.5.1",
    "gluon-wgmma-swizzled-operand@3.5.1",
    "gluon-ws-regs-on-ampere@3.6.0",
    "gluon-ws-worker-warps@3.6.0",
    "loop-carried-dtype@3.2.0",
    "tensor-python-slice@3.6.0",
    "threadlocality-reduce-not-accumulated@3.2.0",
    "while-tensor-condition@3.2.0",
    "while-tensor-condition@3.6.0",
    "ws-data-partition-taskids@3.6.0",
    "ws-hopper-fp32-attn-commit@3.6.0",
    "ws-hopper-fp32-attn-commit@3.9.0",
    "ws-simple-matmul-consumer-gpu@3.6.0",
]


def test_different_cases() -> None:
    signatures = {name: of_log(name) for name in DIFFERENT_LOGS}
    same = [pair for pair in combinations(DIFFERENT_LOGS, 2) if signatures[pair[0]] == signatures[pair[1]]]
    assert same == []


def test_the_contracts_example() -> None:
    text = (
        "python: /b/lib/NVGPUToLLVMPass.cpp:528: std::string ns::WGMMAOpPattern::getPtxAsm(Op) const: "
        'Assertion `false && "WGMMA type or shape is not supported"\' failed.'
    )
    assert signature(text) == 'v2|assertion|NVGPUToLLVMPass.cpp|false && "WGMMA type or shape is not supported"'


def test_explain_names_the_rules_that_fired() -> None:
    diagnosis = diagnose_text("k.py:1:2: error: tile 128x64 of %12, got 7.")
    assert diagnosis is not None
    fired = explain(diagnosis)
    assert [name for name, _, _ in fired] == ["trailing-punctuation", "observed-value", "ssa-name", "shape"]
    assert fired[0][1] == "tile 128x64 of %12, got 7."
    assert diagnosis.signature.endswith(fired[-1][2])


def test_rules_have_names_of_their_own() -> None:
    names = [name for name, _ in COMMON + MESSAGE]
    assert len(set(names)) == len(names)


@each_row(sorted(path.stem for path in DATA.glob("*.log")))
def test_normalising_twice_changes_nothing(name: str) -> None:
    diagnosis = diagnose_text((DATA / f"{name}.log").read_text())
    assert diagnosis is not None
    assert signature_of(diagnosis) == diagnosis.signature
    field = diagnosis.signature.rpartition("|")[2]
    for _, rule in MESSAGE[:-1]:
        if diagnosis.kind.value not in ("assertion", "unreachable"):
            assert rule(field) == field


def test_no_rewording_leads_to_another() -> None:
    from triage.logs.rewordings import reworded

    for _, newest in REWORDINGS:
        if "\\" not in newest:
            assert reworded(newest) in {newest, *(text for _, text in REWORDINGS)}
            assert reworded(reworded(newest)) == reworded(newest)
