"""Each kind of failure in every spelling that its recogniser lists, and what the recognisers make of whole texts."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest

from triage.logs import diagnose_any, diagnose_text, findings, recognisers
from triage.logs.clean import Cleaner
from triage.logs.outcomes import printed_error
from triage.logs.recognisers import ORDER, RECOGNISERS, Recogniser
from triage.model.diagnosis import Diagnosis, Kind

MODULES = list(iter_modules(recognisers.__path__))


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None, f"nothing found in {text!r}"
    return diagnosis


EXAMPLES = [
    pytest.param(recogniser, text, kind, id=f"{name}-{number}")
    for name, recogniser in zip(ORDER, RECOGNISERS, strict=True)
    for number, (text, kind) in enumerate(recogniser.examples.items())
]


@pytest.mark.parametrize(("recogniser", "text", "kind"), EXAMPLES)
def test_every_example_is_recognised(recogniser: Recogniser, text: str, kind: Kind) -> None:
    diagnosis = diagnose_any(text) if kind is Kind.OTHER else diagnosed(text)
    assert diagnosis is not None
    assert diagnosis.kind is kind
    assert any(recogniser.wants(Cleaner()(line.encode())) for line in text.split("\n"))


def test_every_module_is_in_the_order_and_has_examples_and_documentation() -> None:
    modules = {module.name: import_module(f"{recognisers.__name__}.{module.name}") for module in MODULES}
    del modules["base"]
    assert sorted(modules) == sorted(ORDER)
    assert all(module.__doc__ and module.RECOGNISER.examples for module in modules.values())
    assert all(recogniser.anchors and all(recogniser.anchors) for recogniser in RECOGNISERS)


NO_FAILURE = [
    "",
    "\n\n",
    "k.py:3:4: warning: 'tt.dot' op is slow",
    'loc("k.py":3:4): remark: vectorised',
    "note: see current operation",
    "UserWarning: TRITON_DEFAULT_FP_FUSION is unset",
    "ptxas info    : Used 32 registers",
    "tests passed, 0 errors",
    '  %0 = "tt.print"() {message = "error: no"} : () -> ()',
    '  File "k.py", line 3, in f\n    raise ValueError("LLVM ERROR: quoted in source")',
]


@pytest.mark.parametrize("text", NO_FAILURE)
def test_no_failure(text: str) -> None:
    assert diagnose_text(text) is None


SPECIFIC = "python: /b/Dialect.cpp:12: int A::f(int) const: Assertion `x >= 1' failed."
TAILS = [
    "RuntimeError: PassManager::run failed",
    "k.py:1:0: error: Failures have been detected while processing an MLIR pass pipeline",
    "k.py:1:0: note: Pipeline failed while executing [`A` on 'builtin.module' operation]: reproducer",
    "k.py:1:0: error: failed to legalize operation 'tt.load' that was explicitly marked illegal",
    "Aborted (core dumped)",
    "Segmentation fault",
    "ptxas fatal   : Ptx assembly aborted due to errors",
]


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("specific", [SPECIFIC, "k.py:3:4: error: 'tt.dot' op bad", "LLVM ERROR: bad"])
def test_a_tail_never_wins(tail: str, specific: str) -> None:
    alone = diagnosed(specific)
    for text in (f"{tail}\n\n{specific}\n", f"{specific}\n\n{tail}\n"):
        assert diagnosed(text).headline == alone.headline


def test_the_first_of_equals_wins_and_all_are_ranked() -> None:
    found = findings("a.py:1:1: error: first\n\nb.py:1:1: error: second\n\nLLVM ERROR: third\n")
    assert [finding.diagnosis.headline for finding in found] == ["first", "second", "LLVM gave up: third"]
    assert [finding.rank for finding in found] == [2, 3, 1]


def test_assertion_parts() -> None:
    diagnosis = diagnosed('x\npython: /b/Dialect.cpp:12: int ns::A::f(int) const: Assertion `x && "a " "b"\' failed.')
    assert diagnosis.headline == "Assertion failed in A::f: a b"
    assert (diagnosis.function, diagnosis.file, diagnosis.line) == ("A::f", "Dialect.cpp", 12)


def test_the_pass_is_the_innermost_one() -> None:
    diagnosis = diagnosed(
        "k.py:3:4: error: 'tt.dot' op bad\nk.py:1:0: note: Pipeline failed while executing "
        "[`Outer` on 'builtin.module' operation, `Inner` on 'tt.func' operation]: reproducer"
    )
    assert diagnosis.pass_name == "Inner"


def test_a_dump_names_the_pass_by_its_argument() -> None:
    dump = "// -----// IR Dump Before {} //----- //\n"
    text = dump.format("Canonicalizer (canonicalize) ('builtin.module' operation)")
    text += dump.format("ConvertNVGPUToLLVM (convert-nv-gpu-to-llvm) ('builtin.module' operation)")
    assert diagnosed(text + SPECIFIC).pass_name == "convert-nv-gpu-to-llvm"


def test_a_call_chain_leads_to_the_users_line() -> None:
    old = 'loc(callsite("/s/site-packages/triton/language/standard.py":256:15 at "k.py":20:24)): error: bad'
    new = (
        "/s/site-packages/triton/language/standard.py:256:15: error: bad\n    return x\n           ^\n"
        "k.py:20:24: note: called from\n    y = f(x)\n        ^"
    )
    for text in (old, new):
        source = diagnosed(text).source
        assert source is not None
        assert (source.file, source.line, source.column) == ("k.py", 20, 24)


def test_the_innermost_cause_is_the_headline_and_the_outermost_the_exception() -> None:
    diagnosis = diagnosed(
        "ValueError: atomic_or does not support int8\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        "triton.compiler.errors.CompilationError: at 2:4:\ndef k(p):\n    tl.atomic_or(p, 1)\n    ^\n"
    )
    assert diagnosis.kind is Kind.FRONTEND_ERROR
    assert diagnosis.headline == "ValueError: atomic_or does not support int8"
    assert diagnosis.exception == "CompilationError"
    assert diagnosis.source is not None
    assert diagnosis.source.text == "    tl.atomic_or(p, 1)"


def test_an_exception_met_while_handling_another_is_the_failure() -> None:
    diagnosis = diagnosed(
        "KeyError: 'cached'\n\nDuring handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\nValueError: bad\n"
    )
    assert diagnosis.headline == "ValueError: bad"


PRINTED = [
    ("error: couldn't allocate output register for constraint 'x'\n", True),
    ("<unknown>:0: error: something new\n", True),
    ("error: <inline asm>:1:2: invalid instruction\n", True),
    ("warning: stack frame size exceeded\n", False),
    ("k.py:1:2: remark: error: quoted\n", False),
    ("note: error handling\n", False),
]


@pytest.mark.parametrize(("log", "is_error"), PRINTED)
def test_printed_error(log: str, is_error: bool) -> None:
    assert (printed_error(log) is not None) is is_error


PARTS = [
    ("F0728 05:37:45.123456 4242 lib/Dialect.cpp:12] Check failed: x >= 1 (0 vs. 1) why", (None, "Dialect.cpp", 12)),
    ("Assertion failed: x >= 1 (/b/Dialect.cpp: f: 12)", ("f", "Dialect.cpp", 12)),
    ("Assertion failed: x >= 1, file D:\\b\\Dialect.cpp, line 12", (None, "Dialect.cpp", 12)),
    ("**Assertion failed: x >= 1, file D:\\b\\Dialect.cpp, line 12**", (None, "Dialect.cpp", 12)),
    ("python.exe: C:\\Program Files\\b\\A.cpp:7: void ns::A::f(int): Assertion `x' failed.", ("A::f", "A.cpp", 7)),
    ('python: /b/A.cpp:7: void A::f(int): Assertion `x && "cut off he', ("A::f", "A.cpp", 7)),
]


@pytest.mark.parametrize(("line", "parts"), PARTS)
def test_places_of_assertions(line: str, parts: tuple[str | None, str, int]) -> None:
    diagnosis = diagnosed(line)
    assert (diagnosis.function, diagnosis.file, diagnosis.line) == parts


STACK = """\
PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace.
Stack dump:
0.\tProgram arguments: python k.py
 #0 0x00007f9207f555ed llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) Signals.inc:842:11
 #1 0x00007f9207f55aed SignalHandler(int) Signals.inc:412:3
 #2 0x00007f895a20c520 (/lib/x86_64-linux-gnu/libc.so.6+0x42520)
 #3 0x00007f9207a45aed llvm::DenseMapBase<int, int>::find(int) DenseMap.h:12:3
 #4 0x00007f9207a45bed mlir::Operation::getResult(unsigned int) Operation.h:30:1
 #5 0x00007f9207a55aed (anonymous namespace)::LayoutPropagation::getValueAs(int) RemoveLayoutConversions.cpp:517:5
 #6 0x00007f9207b55aed mlir::detail::OpToOpPassAdaptor::run(mlir::Pass*) Pass.cpp:485:21
"""


def test_a_stack_dump_names_tritons_own_frame() -> None:
    diagnosis = diagnosed(STACK + "Segmentation fault (core dumped)\n")
    assert diagnosis.kind is Kind.SEGFAULT
    named = (diagnosis.function, diagnosis.file, diagnosis.line)
    assert named == ("LayoutPropagation::getValueAs", "RemoveLayoutConversions.cpp", 517)


def test_what_gave_up_without_a_name_has_the_one_of_its_stack() -> None:
    diagnosis = diagnosed("UNREACHABLE executed at /b/RemoveLayoutConversions.cpp:520!\n" + STACK)
    assert (diagnosis.kind, diagnosis.line) == (Kind.UNREACHABLE, 520)
    assert diagnosis.function == "LayoutPropagation::getValueAs"


def test_llvms_stack_dump_names_the_pass() -> None:
    running = "1.\tRunning pass 'NVPTX DAG->DAG Pattern Instruction Selection' on function '@k'\n"
    diagnosis = diagnosed("LLVM ERROR: Cannot select: t1\n" + running)
    assert diagnosis.pass_name == "NVPTX DAG->DAG Pattern Instruction Selection"


QUOTED = [
    ("Input shapes should have M >= 16, N >= 16 and K >= 16", Kind.FRONTEND_ERROR),
    ("WGMMA result layout must be Hopper NVMMA", Kind.MLIR_DIAGNOSTIC),
    ("'NoneType' object has no attribute 'get_predecessors'", Kind.PYTHON_EXCEPTION),
    ("address misaligned", Kind.LAUNCH_ERROR),
]


@pytest.mark.parametrize(("said", "kind"), QUOTED)
def test_a_few_quoted_words_are_known_but_not_in_a_long_text(said: str, kind: Kind) -> None:
    assert diagnosed(f"> `{said}`\n").kind is kind
    assert diagnose_text("we saw some of this\n" * 20 + said) is None
