"""No failure is claimed where there is none, or none of Triton's."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.logs import diagnose_text

HEALTHY = sorted((Path(__file__).parent / "data" / "healthy").glob("*.log"))


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_dumps_of_compiles_that_succeed(path: Path) -> None:
    assert diagnose_text(path.read_text()) is None


ORDINARY = {
    "a traceback of somebody's program": """
Traceback (most recent call last):
  File "/home/user/app/main.py", line 12, in <module>
    main()
  File "/home/user/app/main.py", line 8, in main
    load(config["path"])
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
""",
    "a chain of them": """
Traceback (most recent call last):
  File "app.py", line 3, in get
    return cache[key]
KeyError: 'user'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "app.py", line 9, in <module>
    get("user")
  File "app.py", line 5, in get
    raise LookupError(f"no {key}")
LookupError: no user
""",
    "torch's, by somebody else's hand": """
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    y = x @ w
RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)
""",
    "out of memory in plain Python": """
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    x = [0] * 10**12
MemoryError
""",
    "pytest, passing": """
============================= test session starts ==============================
collected 3 items

tests/test_kernel.py::test_matmul[fp16-Error] PASSED                     [ 33%]
tests/test_kernel.py::test_exit_code PASSED                              [ 66%]
tests/test_kernel.py::test_failure XFAIL                                 [100%]

========================= 2 passed, 1 xfailed in 1.20s =========================
""",
    "gtest": """
[==========] Running 2 tests from 1 test suite.
[ RUN      ] LinearLayout.Empty
[       OK ] LinearLayout.Empty (0 ms)
[ RUN      ] LinearLayout.Failure
/src/unittest/LinearLayoutTest.cpp:42: Failure
Expected equality of these values:
  layout.getNumOutDims()
    Which is: 2
  1
[  FAILED  ] LinearLayout.Failure (0 ms)
[==========] 2 tests from 1 test suite ran. (1 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
""",
    "mypy": "app/main.py:3:4: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file\n",
    "gcc": "main.cpp:3:4: error: expected ';' before '}' token\n    3 |   return 0\n      |           ^\n",
    "ptxas, content": """
ptxas info    : Compiling entry function 'matmul_kernel' for 'sm_90a'
ptxas info    : Used 96 registers, used 1 barriers
ptxas warning : Value of threads per SM for entry matmul_kernel is out of range. .minnctapersm will be ignored
""",
    "where a remark came from": """
k.py:3:4: remark: vectorised
k.py:3:4: note: diagnostic emitted with trace:
 #0 0x00007f9207f555ed llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) Signals.inc:842:11
 #1 0x00007f9207a55aed mlir::triton::f(mlir::Value) A.cpp:517:5
""",
    "autotuning": """
Triton autotuning for function matmul_kernel finished after 3.21s; best config selected: BLOCK_M: 128, num_warps: 8;
""",
    "a runner's end": "Process completed with exit code 0.\nError: 0, warnings: 3\nno errors found\n",
    "kill, in prose": "The job was Killed when the node went away, so we restarted it.\n",
    "documentation": """
MLIR_ENABLE_DIAGNOSTICS=<comma-separated> controls diagnostic emission in MLIR. Options are: warnings, remarks,
stacktraces, operations. On a failed pass `PassManager::run failed` is raised, and `LLVM ERROR: …` ends the process
(SIGABRT). Set TRITON_REPRODUCER_PATH to get a reproducer. A segmentation fault is dealt with by gdb.
- Print the intermediate results with `print`; an Error is raised for anything else. Exit code 1 means failure.
""",
}


@pytest.mark.parametrize("what", sorted(ORDINARY))
def test_what_is_not_tritons(what: str) -> None:
    assert diagnose_text(ORDINARY[what]) is None


TRITONS = {
    "raised in Triton": """
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/triton/runtime/jit.py", line 345, in <lambda>
    return lambda *args, **kwargs: self.run(grid=grid, warmup=False, *args, **kwargs)
KeyError: 'x'
""",
    "raised where a kernel is launched": """
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    kernel[(1,)](x, BLOCK=128)
IndexError: list index out of range
""",
    "said in Triton's words": """
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    step()
ValueError: arange's arguments must be of type tl.constexpr
""",
    "quoted alone": "AttributeError: 'NoneType' object has no attribute 'to_ir'",
}


@pytest.mark.parametrize("what", sorted(TRITONS))
def test_what_is(what: str) -> None:
    assert diagnose_text(TRITONS[what]) is not None
