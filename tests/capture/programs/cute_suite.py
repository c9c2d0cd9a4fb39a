"""Tests that compile with CuTe DSL; copied into a folder of its own by its test."""

import pytest
from cute_compiles import Fill, attempt, cutlass, loader
from cutlass import cute

import triage
from triage.integrations import DoesNotCompile

TILE = "tensor<f16, (128,64):(64,1), align=16>"


def test_compiles():
    attempt("copies:64")


def test_aborts():
    attempt("aborts")


def test_refusals_are_errors_of_the_dsl():
    with pytest.raises(cutlass.base_dsl.common.DSLRuntimeError) as caught:
        attempt("aborts")
    assert isinstance(caught.value, triage.CompileFailed)


def test_misaligned():
    attempt("misaligned")


@pytest.mark.compile_matrix(["cuda:80", "cuda:90"])
def test_function(compile_matrix):
    built = compile_matrix(loader(128), signature={"a": TILE}, constexprs={"threads": 64})
    assert built.resources.spill_bytes == 0
    assert (built.target, built.triton, built.release) == (compile_matrix.target, "", "4.8.1")


@pytest.mark.compile_matrix("cuda:90", cute="4.8.1")
def test_object(compile_matrix):
    types = {"a": TILE, "where": "ptr<f32>", "pair": "(i32, i64)", "stream": "stream"}
    assert compile_matrix(Fill(cutlass.Float16), signature=types).release == compile_matrix.cute


@pytest.mark.compile_matrix("cuda:90")
@pytest.mark.xfail(raises=DoesNotCompile, strict=True)
def test_does_not_compile(compile_matrix):
    compile_matrix(loader(128), signature={"a": TILE.replace("16>", "4>")}, constexprs={"threads": 64})


@pytest.mark.compile_matrix("cuda:90", triton="3.6.0")
def test_other_compiler(compile_matrix):
    compile_matrix(loader(128), signature={"a": TILE}, constexprs={"threads": 64})


@pytest.mark.compile_matrix("cuda:90")
def test_no_host(compile_matrix):
    compile_matrix(cute.make_layout, signature={})
