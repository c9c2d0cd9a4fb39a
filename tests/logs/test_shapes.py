"""Every public failure of the corpus, written as a log in six shapes: nothing of it is lost in any of them.

TRIAGE_SHARED names the folder that holds ``corpus/failures.jsonl``. A fact whose message is no failing text (a line
of source, an underline) makes no log.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import triage
from triage.knowledge import load_all, match
from triage.logs import diagnose_text
from triage.model.diagnosis import Kind

SHARED = os.environ.get("TRIAGE_SHARED")
pytestmark = pytest.mark.skipif(SHARED is None, reason="TRIAGE_SHARED names no corpus")
#: What the project promises.
LEAST = 0.98
#: Of the facts in all shapes so many have an entry.
LEAST_MATCHED = 0.85

#: Kinds by the failing text: each is what a person reading the text would say.
KINDS: list[tuple[str, set[Kind]]] = [
    (r"Assertion [`']", {Kind.ASSERTION}),
    (r"UNREACHABLE", {Kind.UNREACHABLE}),
    (r"LLVM ERROR: ", {Kind.LLVM_FATAL}),
    (r"out of resource|OutOfResources|ub overflow", {Kind.OUT_OF_RESOURCES}),
    (r".*ptxas|error   : |Feature '|.*Internal Triton PTX", {Kind.PTXAS}),
    (r"Triton Error \[|(?:error: )?an illegal|address misaligned", {Kind.LAUNCH_ERROR}),
    (r"SIGFPE", {Kind.ABORT}),
    (r"(?:error: )?Segmentation fault|#\d+ 0x", {Kind.SEGFAULT}),
    (r"error: ran out of registers", {Kind.LLVM_DIAGNOSTIC}),
    (r"[\w.]*CompilationError|torch._inductor.exc.InductorError: Comp", {Kind.FRONTEND_ERROR}),
    (r"error: fp8e4nv data type", {Kind.FRONTEND_ERROR, Kind.MLIR_DIAGNOSTIC}),
    (r"(?:RuntimeError: )?PassManager::run failed|Pipeline failed", {Kind.MLIR_DIAGNOSTIC}),
    (r"(?:error: |'\w+\.[\w.]+' op |operand #)", {Kind.MLIR_DIAGNOSTIC}),
    (r"[\w.]*(?:Error|Exception)\b", {Kind.PYTHON_EXCEPTION, Kind.FRONTEND_ERROR, Kind.ENVIRONMENT}),
]
#: Lines that issues quote around a failure, and that are none.
NO_FAILURE = re.compile(
    r"\^+$|File \"|-+> |> \{|\(\w+ pid=\d+\)|ERROR \d|return |kernel = |binary = |ptxas fatal   : Ptx asse$"
)


def facts() -> list[dict[str, Any]]:
    path = Path(SHARED or ".") / "corpus" / "failures.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [fact for fact in found if fact["message"] and not NO_FAILURE.match(fact["message"])]


def expected_kinds(message: str) -> set[Kind] | None:
    """None for a fragment that says nothing of its kind."""
    return next((kinds for pattern, kinds in KINDS if re.match(pattern, message.lstrip('> "'))), None)


def bare_function(name: str | None) -> str | None:
    """``llvm::ArrayRef::operator[]`` -> ``ArrayRef::operator[]``: classes begin with a capital, namespaces do not."""
    if name is None or " " in name:
        return None
    parts = re.sub(r"<.*>", "", name).split("::")
    owner = parts[-2] if len(parts) > 1 and parts[-2][:1].isupper() else None
    return f"{owner}::{parts[-1]}" if owner else parts[-1]


def told(fact: dict[str, Any]) -> tuple[list[str], bool]:
    """The lines that a failing process wrote, and whether they name function and place."""
    message, file, line = fact["message"], fact["file"], fact["line"]
    if message.startswith(("Assertion `", "Assertion '")) and file and line:
        pretty = f"void {fact['function']}(mlir::Operation*, unsigned int) const" if fact["function"] else "int main()"
        return [
            f"python3: /root/build/triton/lib/Conversion/{file}:{line}: {pretty}: {message}.",
            "Aborted (core dumped)",
        ], True
    if message.startswith("#") and file and line:
        return [
            "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the backtrace.",
            "Stack dump:",
            "0.\tProgram arguments: python3 kernel.py",
            " #0 0x00007f9207f555ed llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) Signals.inc:842:11",
            " #1 0x00007f9207f55aed SignalHandler(int) Signals.inc:412:3",
            " #2 0x00007f895a20c520 (/lib/x86_64-linux-gnu/libc.so.6+0x42520)",
            f" #3 0x00007f9207a55aed {fact['function']}(mlir::Value, int) /src/lib/{file}:{line}:10",
            " #4 0x00007f9207b55aed mlir::detail::OpToOpPassAdaptor::run(mlir::Pass*) Pass.cpp:485:21",
            "Segmentation fault (core dumped)",
        ], True
    if fact["stage"] == "python-frontend" and re.match(r"[\w.]*(?:Error|Exception)\b[:(]", message):
        return [
            "Traceback (most recent call last):",
            '  File "/opt/venv/lib/python3.11/site-packages/triton/compiler/code_generator.py", line 9, in visit_Call',
            "    return fn(*args, **extra_kwargs)",
            "           ^^^^^^^^^^^^^^^^^^^^^^^^^",
            *message.split("\n"),
        ], False
    return message.split("\n"), False


IR = [
    "// -----// IR Dump Before ConvertTritonToTritonGPU (convert-triton-to-tritongpu) ('builtin.module') //----- //",
    '#loc = loc("/root/kernel.py":3:0)',
    "module {",
    '  tt.func public @kernel(%arg0: !tt.ptr<f32> loc("/root/kernel.py":3:0)) attributes {noinline = false} {',
    "    %cst = arith.constant dense<0xFF800000> : tensor<128xf32> loc(#loc)",
    '    tt.print "error: " {hex = false, isSigned = array<i32: 1>} : %cst : tensor<128xf32> loc(#loc)',
    "    tt.return loc(#loc)",
    "  } loc(#loc)",
    "} loc(#loc)",
    "",
] * 40


def colourful(lines: list[str]) -> list[str]:
    return [f"\x1b[1m\x1b[31m{line[: len(line) // 2]}\x1b[0m\x1b[33m{line[len(line) // 2 :]}\x1b[0m" for line in lines]


def of_pytest(lines: list[str]) -> list[str]:
    head = [
        "=" * 30 + " FAILURES " + "=" * 30,
        "_" * 30 + " test_kernel[128] " + "_" * 30,
        "",
        "    def test_kernel(block):",
    ]
    return [
        *head,
        ">       kernel[(1,)](x, block)",
        "",
        *(f"E       {line}".rstrip() for line in lines),
        "",
        "test_k.py:12: Failed",
    ]


SHAPES: dict[str, Callable[[list[str]], list[str]]] = {
    "bare": list,
    "ci": lambda lines: [f"2025-03-01T12:00:0{number % 10}.1234567Z {line}" for number, line in enumerate(lines)],
    "pytest": of_pytest,
    "ansi": colourful,
    "worker": lambda lines: [f"(EngineCore_0 pid=4242) {line}" for line in lines],
    "buried": lambda lines: [*IR, *lines, *IR],
}


def wrong(fact: dict[str, Any], shape: str) -> str | None:
    """What a log in this shape does not give back; None when all is right."""
    lines, placed = told(fact)
    found = diagnose_text("\n".join(SHAPES[shape](lines)) + "\n")
    kinds = expected_kinds(fact["message"])
    if found is None:
        return "nothing found"
    if kinds and found.kind not in kinds:
        return f"{found.kind.value}: {found.headline}"
    if placed:
        wanted = (fact["file"], fact["line"], bare_function(fact["function"]))
        if wanted != (found.file, found.line, found.function):
            return f"{(found.file, found.line, found.function)} instead of {wanted}"
    return None


def test_facts_survive_every_shape() -> None:
    missed = []
    unmatched = []
    total = 0
    for fact in facts():
        for shape, change in SHAPES.items():
            if expected_kinds(fact["message"]) is None and shape == "buried":
                continue  # bare words among IR prove nothing, and nothing is claimed of them
            total += 1
            if not match(triage.diagnose("\n".join(change(told(fact)[0])) + "\n"), load_all(), None):
                unmatched.append(f"{fact['id']} {shape} [{fact['message'][:80]!r}]")
            if said := wrong(fact, shape):
                missed.append(f"{fact['id']} {shape}: {said} [{fact['message'][:80]!r}]")
    rate = 1 - len(missed) / total
    print(f"{total}: {total - len(missed)} right, {total - len(unmatched)} with an entry")
    assert rate >= LEAST, "\n".join(missed)
    assert 1 - len(unmatched) / total >= LEAST_MATCHED, "\n".join(unmatched)
