"""What only Triton says is its own in a text that does not name it, and what looks like it is not."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Kind


def test_a_text_of_triton_s_own_code_needs_no_other_evidence() -> None:
    about = "Since the update the server does not start any more. The card is an older one, in a machine of ours.\n"
    own = diagnose_text(f"{about}LLVM ERROR: Unsupported rounding mode for conversion.\n")
    assert own is not None and own.kind is Kind.LLVM_FATAL
    assert diagnose_text(f"{about}LLVM ERROR: Unsupported library call operation!\n") is None
    in_words = diagnose_text(f"{about}It ends in `RuntimeError: PassManager::run failed`.\n")
    assert in_words is not None and in_words.kind is Kind.MLIR_DIAGNOSTIC


@pytest.mark.parametrize(
    "error",
    [
        "AttributeError: 'KernelMetadata' object has no attribute 'cluster_dims'",
        "AttributeError: type object 'CompiledKernel' has no attribute 'launch_enter_hook'",
        "AttributeError: 'Config' object has no attribute 'all_kwargs'",
        "AttributeError: 'PersistentCacheAutotuner' object has no attribute 'keys'",
        "ValueError: Scalar 4294967296 is out of range for type int32",
        "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
        "error: invalid element type in packLLElements. Expected 'i32' but got 'i8'",
        "Pipeline failed while executing AllocateProtonGlobalScratchBufferPass",
    ],
)
def test_what_only_triton_says_in_a_text_that_does_not_name_it(error: str) -> None:
    found = diagnose_text(
        f"Since the update the server does not start any more. I get this error:\n\n{error}\n\nWhy?\n"
    )
    assert found is not None and error.rpartition(": ")[2].strip() in found.message


def test_a_class_of_another_library_has_triton_in_its_name() -> None:
    frames = 'Traceback (most recent call last):\n  File "/w/quantize.py", line 22, in <module>\n    main()\n'
    text = f"# AttributeError: 'TritonV2Linear' object has no attribute 'wf'\n\ntriton == 3.5.0\n{frames}"
    assert diagnose_text(text) is None


def test_a_method_of_another_class_is_named_launch() -> None:
    frame = 'Traceback (most recent call last):\n  File "/w/29.py", line 4, in warm\n    cache.launch(grid=(1,))\n'
    assert diagnose_text(f"{frame}AttributeError: 'KernelCache' object has no attribute 'launch'\n") is None


def test_a_gpu_that_a_build_names_is_not_newer_than_ptxas() -> None:
    about = "I build the package on this machine. It does not work with the toolkit of the distribution.\n"
    assert diagnose_text(f"{about}ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'\n") is None


def test_the_driver_s_library_that_another_package_does_not_find() -> None:
    error = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
    traceback = (
        'Traceback (most recent call last):\n  File "/x/site-packages/{}", line 62, in <module>\n    from {} import *\n'
    )
    assert diagnose_text(f"{traceback.format('pycuda/driver.py', 'pycuda._driver')}{error}") is None
    assert diagnose_text(f"{traceback.format('triton/__init__.py', 'triton._C')}{error}") is not None


def test_llvm_stops_a_python_program() -> None:
    error = "LLVM ERROR: Cannot select: intrinsic %llvm.amdgcn.fdot2\n"
    about = "The server of ours answers the first request and then it does not any more.\n"
    died = "ERROR 04-30 14:30:50 [client.py:305] RuntimeError('Engine process (pid 28) died.')\n"
    found = diagnose_text(f"{about}{error}{died}")
    assert found is not None and found.kind is Kind.LLVM_FATAL
    assert diagnose_text(f"{about}{error}") is None
    frame = '  File "/v/site-packages/numba/core/codegen.py", line 12, in finalize\n'
    assert diagnose_text(f"{about}{error}{frame}{died}") is None


def test_a_debugger_names_one_of_two_libraries() -> None:
    stopped = (
        "thread #50, name = 'autograd', stop reason = signal SIGSEGV: address not mapped to object\n"
        "    frame #0: 0x00007ffcc94812be libtriton.so`scheduleRemainingToLastStage(forOp=ForOp @ 0x00007fff1eb"
    )
    found = diagnose_text(f"The backward of this ends early.\nout = torch.compile(f)(x)\n{stopped}\n")
    assert found is not None
    assert (found.kind, found.function) == (Kind.SEGFAULT, "scheduleRemainingToLastStage")
    assert "SIGSEGV" in found.headline
    assert diagnose_text(f"The disassembly of this ends early.\nctx.disassembly(i)\n{stopped}\n") is None
