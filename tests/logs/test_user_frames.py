"""Where a failure without a location in the kernel happened: the user's line that compiled or launched it."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_any, diagnose_text

LIBRARY = "/venv/lib/python3.12/site-packages"
LAUNCHED = f"""Traceback (most recent call last):
  File "/home/u/train.py", line 40, in <module>
    step(batch)
  File "/home/u/ops/norm.py", line 12, in step
    norm_kernel[(n,)](x, y)
  File "{LIBRARY}/triton/runtime/jit.py", line 390, in <lambda>
    return lambda *args, **kwargs: self.run(grid=grid, warmup=False, *args, **kwargs)
  File "{LIBRARY}/triton/backends/nvidia/driver.py", line 529, in __call__
    self.launch(*args)
RuntimeError: Triton Error [CUDA]: invalid argument
"""
NO_LAUNCH = f"""Traceback (most recent call last):
  File "/home/u/train.py", line 40, in <module>
    step(batch)
  File "{LIBRARY}/torch/nn/modules/module.py", line 1751, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "{LIBRARY}/peft/tuners/lora.py", line 77, in forward
    self.base
"""
PYTEST = """tests/test_norm.py:31: in test_norm
    run(x)
ops/norm.py:12: in run
    norm_kernel[(n,)](x, y)
E   RuntimeError: Triton Error [CUDA]: invalid argument

ops/norm.py:13: RuntimeError
tests/test_other.py:5: in test_other
"""


@pytest.mark.parametrize(
    ("text", "file", "line"),
    [
        (LAUNCHED, "/home/u/ops/norm.py", 12),
        (f"RuntimeError: Triton Error [CUDA]: invalid argument\n\n{NO_LAUNCH}", "/home/u/train.py", 40),
        (PYTEST, "ops/norm.py", 13),
        (PYTEST.replace("\nE ", "\n  E ").replace("\nops", "\n  ops"), "ops/norm.py", 13),
    ],
    ids=["traceback", "cut-traceback", "pytest", "pytest-indented"],
)
def test_a_failure_is_located_at_the_user_s_line(text: str, file: str, line: int) -> None:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == (file, line)


def test_a_location_in_the_kernel_is_kept() -> None:
    text = LAUNCHED.replace("RuntimeError: Triton", "ops/norm.py:3:4: error: 'tt.dot' op bad\nRuntimeError: Pass")
    diagnosis = diagnose_text(text)
    assert diagnosis is not None and diagnosis.source is not None and diagnosis.source.line == 3


def test_a_failure_in_a_title_is_where_the_traceback_below_shows_it() -> None:
    title = "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered"
    frames = (
        'Traceback (most recent call last):\n  File "/w/train.py", line 7, in step\n    scale[(4,)](x)\n'
        '  File "/v/lib/python3.11/site-packages/triton/runtime/jit.py", line 345, in <lambda>\n    return self.run()\n'
    )
    for log in (f"# {title}\n\n{frames}{title}\n", f"# {title}\n\n{frames}"):
        diagnosis = diagnose_text(log)
        assert diagnosis is not None
        assert diagnosis.source is not None
        assert (diagnosis.source.file, diagnosis.source.line) == ("/w/train.py", 7)


@pytest.mark.parametrize(
    "text",
    [
        "error: 'tt.dot' op bad operand\n  (ops/cute/norm.py:31)\n  ... more ...\n",
        "error: 'tt.dot' op bad operand (at ops/cute/norm.py:31:5)\n",
        "error: 'tt.dot' op bad operand\nnote: see above\n  at ops/cute/norm.py:31\n",
    ],
)
def test_a_place_that_somebody_adds_to_an_error(text: str) -> None:
    diagnosis = diagnose_text(f"On our cluster, Triton 3.6:\n{text}")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("ops/cute/norm.py", 31)


@pytest.mark.parametrize(
    "text",
    [
        "error: bad token\n  (ops/norm.py:31)\n",  # of any program
        "error: 'tt.dot' op bad operand\nsee (ops/norm.py:31)\n",  # prose
    ],
)
def test_a_place_that_is_none_of_the_error_s(text: str) -> None:
    diagnosis = diagnose_any(f"On our cluster, Triton 3.6:\n{text}")
    assert diagnosis is not None and diagnosis.source is None


JIT = f"{LIBRARY}/triton/runtime/jit.py in <lambda>(*args)\n--> 345         return lambda *args: self.run(*args)\n"
RAISED = "\nRuntimeError: Triton Error [CUDA]: invalid argument\n"


@pytest.mark.parametrize(
    ("frame", "file"),
    [
        ("<ipython-input-7-1d2c> in <cell line: 4>()\n      3 \n----> 4 add[(1,)](x)\n", "<ipython-input-7-1d2c>"),
        ("/tmp/ipykernel_32/321.py in <module>\n      3 \n----> 4 add[(1,)](x)\n", "/tmp/ipykernel_32/321.py"),
        ("Input In [12], in <cell line: 4>()\n      3 \n----> 4 add[(1,)](x)\n", "Input In [12]"),
        ("/w/add.py:4 in add_\n", "/w/add.py"),
        ("Cell In[12], line 4\n      3 \n----> 4 add[(1,)](x)\n", "Cell In[12]"),
        ("File D:\\My Kernels\\add.py:4, in add_(x)\n      3 \n----> 4 add[(1,)](x)\n", "D:\\My Kernels\\add.py"),
    ],
)  # fmt: skip
def test_the_cell_of_a_notebook_is_the_user_s(frame: str, file: str) -> None:
    diagnosis = diagnose_text(f"RuntimeError   Traceback (most recent call last)\n{frame}\n{JIT}{RAISED}")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == (file, 4)


def test_the_exception_below_the_one_that_wraps_it_is_of_the_same_traceback() -> None:
    diagnosis = diagnose_text(
        f'  File "{LIBRARY}/torch/_dynamo/output_graph.py", line 1465, in _call_user_compiler\n'
        "    raise BackendCompilerFailed(self.compiler_fn, e) from e\n"
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nPermissionError: [WinError 5] denied\n"
    )
    assert diagnosis is not None and diagnosis.headline == "PermissionError: [WinError 5] denied"


def test_a_program_that_torch_generated_is_the_place_where_no_line_is_the_user_s() -> None:
    generated = '  File "/tmp/torchinductor_me/6e/c6ei2.py", line 1882, in call\n    kernel.run(x)\n'
    raised = "RuntimeError: Triton Error [CUDA]: invalid argument\n"
    users = '  File "/w/train.py", line 7, in step\n    model(x)\n'
    for frames, file in ((generated, "/tmp/torchinductor_me/6e/c6ei2.py"), (users + generated, "/w/train.py")):
        diagnosis = diagnose_text(f"Traceback (most recent call last):\n{frames}{raised}")
        assert diagnosis is not None and diagnosis.source is not None and diagnosis.source.file == file


def test_a_frame_that_rich_draws_without_a_space() -> None:
    diagnosis = diagnose_any(
        "Triton: InductorError\n╭─── Traceback (most recent call last) ───╮\n│D:\\a\\devices.py:397 in test_triton │\n"
        "│❱ 397 │   test_triton_func(torch.randn(32)) │\n"
    )
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("D:\\a\\devices.py", 397)


def test_no_file_of_triton_s_is_the_user_s() -> None:
    frame = f'  File "{LIBRARY}/triton/kernel.py", line 1, in <module>\n    import triton._C.libtriton as libtriton\n'
    diagnosis = diagnose_text(f"{frame}ImportError: /v/triton/_C/libtriton.so: undefined symbol: f\n")
    assert diagnosis is not None and diagnosis.source is None


def test_no_frame_in_c_is_the_user_s() -> None:
    frames = '  File "/x/cache.pyx", line 3, in g\n  File "/x/python-3.13.13/Objects/call.c", line 361, in f\n'
    diagnosis = diagnose_text(
        f'  File "/home/u/train.py", line 40, in <module>\n{frames}RuntimeError: Triton Error [CUDA]: x\n'
    )
    assert diagnosis is not None and diagnosis.source is not None and diagnosis.source.file == "/home/u/train.py"


FRAMES = (("/home/u/train.py", 40, "main"), ("/home/u/ops/norm.py", 12, "step"))
IN_LIBRARY = (f"{LIBRARY}/triton/runtime/jit.py", 390, "run")
#: How people and programs list the frames of a traceback; where the exception's line is last, so is the innermost.
LISTED = {
    "without quotation marks": "  File {0}, line {1}, in {2}",
    "without its first word": "  {0}, line {1}, in {2}",
    "a list": "- `{0}`, line {1}, in `{2}`",
    "a list with numbers": "  1. {0}:{1} in {2}()",
    "arrows": "  {0}:{1} \u2192 {2}()",
    "calls": "  {0}:{1} {2}()",
    "bullets": '*   File "{0}", line {1}, in {2}',
}
INNERMOST_FIRST = {"at": "  at {0}:{1} in {2}", "at, with the name before": "  at {2} ({0}:{1})"}


@pytest.mark.parametrize("frame", LISTED.values(), ids=LISTED)
def test_frames_as_people_list_them(frame: str) -> None:
    lines = [frame.format(*at) for at in (*FRAMES, IN_LIBRARY)]
    diagnosis = diagnose_text("\n".join([*lines, "RuntimeError: Triton Error [CUDA]: invalid argument", ""]))
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("/home/u/ops/norm.py", 12)


@pytest.mark.parametrize("frame", INNERMOST_FIRST.values(), ids=INNERMOST_FIRST)
def test_frames_below_the_exception_innermost_first(frame: str) -> None:
    lines = [frame.format(*at) for at in (IN_LIBRARY, *FRAMES[::-1])]
    diagnosis = diagnose_text("\n".join(["RuntimeError: Triton Error [CUDA]: invalid argument", *lines, ""]))
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("/home/u/ops/norm.py", 12)


def test_a_notebook_s_frames_without_the_line_above_them() -> None:
    frames = "".join(
        f"[{file}](https://localhost:8080/#) in {name}(x)\n     {line - 1} y = 1\n---> {line} z = f(y)\n\n"
        for file, line, name in (*FRAMES, IN_LIBRARY)
    )
    diagnosis = diagnose_text(f"{frames}RuntimeError: Triton Error [CUDA]: invalid argument\n")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("/home/u/ops/norm.py", 12)


def test_an_editor_s_link_to_a_line_whose_frame_is_cut_off() -> None:
    link = "https://remote.example-cdn.net/u/ops/selective_update.py"
    diagnosis = diagnose_text(
        f"AttributeError: module 'triton' has no attribute 'heuristics'\n\n[11]({link}:11) import triton\n"
        f'---> [16]({link}:16) @triton.heuristics({{"A": 1}})\n     [17]({link}:17) @triton.jit\n'
    )
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("/u/ops/selective_update.py", 16)
