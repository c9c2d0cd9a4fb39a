"""Failures that people state in words of their own, and the weights that find them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triage.logs import diagnose_any, diagnose_text
from triage.logs.statement import learning
from triage.logs.statement.weights import MOST_NOTHING, NOTHING, learnt
from triage.model.diagnosis import Kind

STATED = [
    (
        "Segfault in the Triton backend when the reduction has one element\n\nWe fuse a norm into a matmul; the\n"
        "smaller of both kernels is fine.\n\ntriton 3.3.1, Ubuntu 24.04\n",
        "Segfault in the Triton backend when the reduction has one element",
        Kind.SEGFAULT,
    ),
    (
        "Hello, since the update of our cluster the first step of training takes long.\n"
        "After an hour the job stops because triton's launcher cannot be built, Python.h is missing on the nodes.\n"
        "Thank you!\n",
        "Python.h is missing",
        Kind.ENVIRONMENT,
    ),
    (
        "### Which component has the problem?\n\nCuTe DSL\n\n**Describe the bug**\n"
        "`MmaF16Op` segfaults during `cute.compile` on SM120 when calling `make_fragment_A`. It works on Hopper.\n"
        "Root cause: `MmaF16Op._make_trait()` creates `MmaAtomSM89Type` (Ada SM89), which is incompatible with SM120's "
        "MLIR lowering passes: the generator of fragments accesses SM89-specific fields that are not there, causing "
        "a null pointer dereference in the C++ MLIR dialect library.\n",
        "segfaults during `cute.compile`",
        Kind.SEGFAULT,
    ),
]


@pytest.mark.parametrize(("text", "stated", "kind"), STATED)
def test_the_line_that_states_a_failure_is_the_headline(text: str, stated: str, kind: Kind) -> None:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    assert stated in diagnosis.headline
    assert diagnosis.kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "How do I write a fused softmax in Triton? The tutorial only has one for rows that fit into a block.\n",
        "tl.dot in fp8 takes long to autotune\n\nWith 200 configs, the first call takes 40 minutes with Triton 3.3.\n",
        "Support for block pointers of three dimensions in Triton would help us with convolutions.\n",
        "INFO [importing.py:17] Triton is installed\nINFO [serve.py:3] Application startup complete.\n",
        "# Triton product is incorrect with wide tiles\n\n"
        "## Summary\n\nThe Pallas Triton path produces incorrect values.\n\n"
        "- `N=128`, groups `[129,127]`: value plus lhs/rhs gradients pass.\n"
        "- `N=160`, groups `[128,128]`: forward fails with 9% mismatched elements and maximum absolute error 4.\n",
        "Great that attention is a tutorial of Triton now.\n\n"
        "However, it seems to give wrong output when head dim != 64.\n"
        "- `N=64`, groups `[129,127]`: values and gradients pass.\n"
        "- `N=96`, groups `[128,128]`: forward fails with 18% mismatched elements.\n",
    ],
)
def test_a_question_a_wish_and_a_log_state_none(text: str) -> None:
    assert diagnose_any(text) is None


SLOW = [
    "[3.7.0] Inductor GEMM throughput regression on MI300X, 14 shapes affected\n\n## Summary\nThese shapes reach two "
    "thirds of 3.6.0. Accuracy passes.\n\n| triton | torch |\n|---|---|\n| 3.7.0 | 2.12.0 |\n",
    "Performance regression of our attention kernel with Triton 3.6\n\nSince the update the forward pass takes 2.3 ms "
    "instead of 1.4 ms; results are the same.\n",
    "Launch overhead of triton.jit kernels increased in nightly\n\nWithout arguments 9 us, with 3.1 it was 5 us.\n",
]


@pytest.mark.parametrize("text", SLOW)
def test_what_is_slow_did_not_fail(text: str) -> None:
    assert diagnose_any(text) is None


def test_what_is_slow_and_fails_failed() -> None:
    text = "Slow compile, then a segfault in triton\n\nA reduction of one element takes a minute, then it crashes.\n"
    diagnosis = diagnose_any(text)
    assert diagnosis is not None
    assert diagnosis.kind is Kind.SEGFAULT


def test_a_traceback_whose_ends_are_cut_off_is_of_a_failure() -> None:
    frames = (
        '  File "/x/site-packages/triton/compiler/compiler.py", line 278, in compile\n'
        "    module = src.make_ir(options, codegen_fns, module_map, context)\n"
        '  File "/x/site-packages/triton/compiler/compiler.py", line 81, in make_ir\n'
        "    return ast_to_ttir(self.fn,\n"
    )
    diagnosis = diagnose_any(frames)
    assert diagnosis is not None
    assert diagnosis.kind is Kind.FRONTEND_ERROR


def test_the_triton_backend_of_something_is_triton() -> None:
    diagnosis = diagnose_any(
        "Segfault in the Triton backend when the reduction has one element\nThe smaller one is fine."
    )
    assert diagnosis is not None
    assert diagnosis.kind is Kind.SEGFAULT


def test_what_names_no_triton_is_not_asked_about() -> None:
    assert diagnose_text(STATED[0][0].replace("Triton", "shader").replace("triton", "driver")) is None


def test_the_file_names_kinds_and_knows_nothing_of_most_words() -> None:
    weights = learnt()
    assert set(weights.kinds) - {NOTHING} <= {kind.value for kind in Kind}
    assert weights.kinds_of(["word unheard-of"]).keys() == weights.kinds.keys()


def _row(text: str, kind: str | None, key: str = "") -> str:
    return json.dumps(
        {"text": f"{text}\ntriton 3.2.0\n", "kinds": [kind] if kind else [], "keys": [key] if kind else []}
    )


def test_words_that_state_failures_are_learnt(tmp_path: Path) -> None:
    """In what follows a grumbling compiler is one that failed, and a humming one works."""
    file = tmp_path / "texts.jsonl"
    rows = [_row(f"we have machine {n}\nit grumbles at tile {n}", "ptxas", "grumbles") for n in range(12)]
    rows += [_row(f"we have machine {n}\nit hums at tile {n}", None) for n in range(12)]
    file.write_text("\n".join(rows))
    weights = learning.learn(list(learning.read(file)))
    new = tmp_path / "new.jsonl"
    new.write_text(_row("it hums at first\nthen it grumbles at tile 99", "ptxas", "grumbles"))
    (example,) = learning.read(new)
    number = weights.best_of(example.of_lines)
    kinds = weights.kinds_of(example.of_kind(number))
    assert number == 1
    assert kinds["ptxas"] > 0.5 and kinds[NOTHING] < MOST_NOTHING


@pytest.mark.parametrize(
    "program",
    [
        '"builtin.module"() ({\n  "tt.func"() <{function_type = (tensor<64xi32>) -> i32, sym_name = "f"}> ({\n'
        '  ^bb0(%a: tensor<64xi32>):\n    "tt.return"(%a) : (tensor<64xi32>) -> ()\n  }) : () -> ()\n}) : () -> ()',
        'module attributes {"ttg.num-warps" = 4 : i32} {\n  tt.func @f(%a: tensor<4xf32>) {\n    tt.return\n  }\n}',
        "module {\n  func.func @must_not_fail(%a: i32) {\n    return\n  }\n}",
    ],
)
@pytest.mark.parametrize(
    "told",
    [
        "`triton-opt` crashes on a module whose tensors have no encoding.",
        "The `triton-opt` tool segfaults in --tritongpu-coalesce.",
    ],
)
def test_a_program_in_mlir_states_no_failure(told: str, program: str) -> None:
    diagnosis = diagnose_any(f"# A crash on invalid input\n\n{told}\n```\n{program}\n```\n")
    assert diagnosis is not None
    assert diagnosis.headline not in program
    assert diagnosis.kind is Kind.SEGFAULT or "segfaults" not in told
