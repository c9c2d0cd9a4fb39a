"""Values of a case as Triton objects, and cases that do not fit their kernel. Runs where Triton is: in a worker."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import kernel_cases
import pytest
from conftest import compiler

from triage.harness.engine import Engine
from triage.harness.servers import WORKER
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.model.outcome import Outcome, Status, Undecided

Compile = Callable[..., "list[Outcome | Undecided]"]

PROGRAM = """
import importlib, importlib.util, json, sys, triton
folder = sys.argv[1]
spec = importlib.util.spec_from_file_location("w", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["w"] = importlib.util.module_from_spec(spec)
values = importlib.import_module("w.values")
for value in json.load(sys.stdin):
    try:
        decoded = values.decode(value)
        print(repr(repr(decoded)))
    except values.BadValue as error:
        print(repr("BadValue: " + str(error)))
    else:
        assert values.decode(values.encode(decoded)) == decoded, value
for value in (float("nan"), 1 << 64, "tl.float32", triton, triton.jit, {}):
    try:
        raise SystemExit("encoded as %r" % (values.encode(value),))
    except values.BadValue:
        continue
"""


@pytest.fixture(scope="module")
def decoded(toolchains: Toolchains) -> dict[str, str]:
    """Every value below, decoded in one process of the newest Triton; each is also written back there."""
    given = [*PLAIN, *OBJECTS, *REFUSED]
    done = subprocess.run(
        [str(toolchains.default().python), "-c", PROGRAM, str(WORKER)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    return dict(zip(map(repr, given), map(ast.literal_eval, done.stdout.splitlines()), strict=True))


PLAIN: list[Any] = [
    *(None, True, 3, 2.5, [1, [2, "a"]]),
    *("ieee", "tl", "tl.", "tlx.float32", "x = tl.float32", "tl.float32(", "__import__"),
]
OBJECTS = {
    "tl.float32": "triton.language.float32",
    "triton.language.int8": "triton.language.int8",
    "tl.float8e4nv": "triton.language.float8e4nv",
    "gl.SliceLayout(0, gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))": "SliceLayout(dim=0, parent=BlockedLayout(",
    "gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)": "NVMMASharedLayout(",
}
REFUSED = [
    "tl.__class__",
    "tl.float32.__class__",
    "tl.core.os.system('true')",
    "tl.constexpr(__import__('os'))",
    "tl.constexpr(lambda: 0)",
    "tl.constexpr([x for x in (1,)])",
    "tl.no_such_type",
    "tl.arange(0, 4)",
    "triton.compile()",
    "triton.runtime.driver.active",
    "gl.BlockedLayout(*[1])",
    "gl.BlockedLayout(**{})",
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_stay_what_they_are(decoded: dict[str, str], value: Any) -> None:
    """Lists become tuples, as Triton passes them."""
    assert decoded[repr(value)] == {"[1, [2, 'a']]": "(1, (2, 'a'))"}.get(repr(value), repr(value))


@pytest.mark.parametrize(("text", "expected"), OBJECTS.items(), ids=list(OBJECTS))
def test_names_of_triton_become_objects(decoded: dict[str, str], text: str, expected: str) -> None:
    found = decoded[repr(text)]
    assert expected in found or found == expected.rpartition(".")[2]


@pytest.mark.parametrize("text", REFUSED)
def test_nothing_is_evaluated(decoded: dict[str, str], text: str) -> None:
    assert decoded[repr(text)].startswith("BadValue: ")


# --- cases that do not fit their kernel ------------------------------------------------------------------------------

ADD = kernel_cases.add()
MISFITS: dict[str, tuple[Case, str]] = {
    "missing type": (
        replace(ADD, signature=frozen({"x_ptr": "*fp32", "n": "i32"})),
        "argument y_ptr of add has no type (--arg y_ptr=TYPE)",
    ),
    "missing value": (replace(ADD, constexprs=frozen()), "argument BLOCK of add has no value (--const BLOCK=VALUE)"),
    "unknown argument": (
        replace(ADD, constexprs=frozen({"BLOCK": 64, "EVEN": True})),
        "EVEN is not an argument of add(x_ptr, y_ptr, n, BLOCK)",
    ),
    "constexpr in the signature": (
        replace(ADD, signature=frozen({**ADD.signature, "BLOCK": "i32"}), constexprs=frozen()),
        "BLOCK is a tl.constexpr: give it under constexprs (--const BLOCK=VALUE)",
    ),
    "no such function": (replace(ADD, name="sub"), "no function 'sub'; jitted here: "),
    "not jitted": (replace(ADD, name="tl"), "'tl' is not decorated with @triton.jit or @gluon.jit"),
    "wrong language": (
        replace(ADD, language=Language.GLUON),
        "add is a triton kernel, the case says language 'gluon'",
    ),
    "private name": (
        replace(ADD, constexprs=frozen({"BLOCK": "tl.__class__"})),
        "'tl.__class__': private names are not reachable",
    ),
}


@pytest.fixture
def compile_all(shared_engine: Engine, toolchains: Toolchains) -> Compile:
    return compiler(shared_engine, toolchains)


@pytest.mark.parametrize(("case", "reason"), MISFITS.values(), ids=MISFITS)
def test_a_case_that_does_not_fit_is_the_users_to_mend(compile_all: Compile, case: Case, reason: str) -> None:
    (result,) = compile_all([case])
    assert isinstance(result, Undecided)
    assert result.reason.startswith(reason)
    assert (result.input_error, "\n" in result.reason) == (True, False)


def test_what_a_release_does_not_have_is_how_the_case_fails_there(compile_all: Compile) -> None:
    (result,) = compile_all([replace(ADD, constexprs=frozen({"BLOCK": "tl.float2"}))])
    assert isinstance(result, Outcome)
    assert result.status is Status.ERROR
    assert result.errors[0].type == "BadValue"
