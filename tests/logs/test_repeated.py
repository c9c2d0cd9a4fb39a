"""A failure that a title states in part has what is printed of it below."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis, Kind


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    return diagnosis


@pytest.mark.parametrize(
    "text",
    [
        '# Assertion `0 && "rank not handled"\' failed\n\npython: {}',
        '[BUG] Assertion `0 && "rank not handled"\' failed on MI300\n```\ntriton-opt: {}\n```',
        '# 编译报错, Assertion `0 && "rank not handled"\' failed\npytest: {}\n',
        'We see assertion `0 && "rank not handled"\' failed with triton 3.2:\n[rank0]: python3.11: {}',
    ],
)
def test_an_assertion(text: str) -> None:
    assertion = (
        "/b/lib/Dialect/TritonGPU/IR/Dialect.cpp:85: auto mlir::triton::gpu::getOrder(mlir::Attribute)"
        '::(anonymous class)::operator()(int) const: Assertion `0 && "rank not handled"\' failed.'
    )
    diagnosis = diagnosed(text.format(assertion))
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Dialect.cpp", 85, "getOrder")
    assert diagnosis.headline == "Assertion failed in getOrder: rank not handled"


def test_of_two_assertions_each_has_its_place() -> None:
    text = "# Assertion `x >= 1' failed\npython: /b/Dialect.cpp:85: int f(): Assertion `y >= 1' failed.\n"
    assert diagnosed(text).headline == "Assertion failed: x >= 1"


@pytest.mark.parametrize(
    ("printed", "file"),
    [
        (
            'loc("/tmp/b-17/module.mlir":2:3): error: ub overflow, requires 40 bits while 20 bits avaliable!',
            "module.mlir",
        ),
        (
            "/tmp/x.ttadapter.mlir:2:3: error: UB overflow, requires 40 bits while 20 bits available!",
            "x.ttadapter.mlir",
        ),
        ('loc("/a/k.py":2:3): error: ub overflow, requires 40 bits while 20 bits available', "k.py"),
    ],
)
def test_a_resource(printed: str, file: str) -> None:
    for title in ("", "# The compile of a layer norm ends in error: ub overflow\n", "matmul: UB overflow\n"):
        diagnosis = diagnosed(f"{title}[ConvertLinalgRToBinary] encounters error:\n{printed}\n")
        assert (diagnosis.kind, diagnosis.required, diagnosis.limit) == (Kind.OUT_OF_RESOURCES, 40, 20)
        assert diagnosis.source is not None
        assert (diagnosis.source.file.rpartition("/")[2], diagnosis.source.line) == (file, 2)


def test_an_exception_that_is_a_name_alone_has_its_text_from_the_line_above() -> None:
    diagnosis = diagnose_text(
        "jax-triton 0.2.0\nJaxStackTraceBeforeTransformation: NotImplementedError: no gather in the Triton backend\n\n"
        "The above exception was the direct cause of the following exception:\n\nNotImplementedError\n"
    )
    assert diagnosis is not None
    assert diagnosis.headline == "NotImplementedError: no gather in the Triton backend"


def test_an_exception_that_the_title_cuts_off_is_whole_below() -> None:
    command = "CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpecd6su1w/main.c'"
    diagnosis = diagnose_text(
        f"# [BUG] {command}\n\nIt is the rotary embedding:\n`{command}, '-O3', '-shared', '-lcuda', '-o', "
        "'/tmp/tmpecd6su1w/rotary_kernel.so']' returned non-zero exit status 1.`\n"
    )
    assert diagnosis is not None
    assert "rotary_kernel" in diagnosis.message
