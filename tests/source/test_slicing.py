"""Which lines of the user's files a kernel reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_sources import CASES, written

from triage.model.errors import InputError
from triage.source.module import diff, transferred
from triage.source.slicing import Slice, Unsliceable, slice_kernel


def texts(cut: Slice) -> dict[str, str]:
    """The files of a slice that are not empty."""
    return {path.as_posix(): text.decode() for path, text in cut.texts.items() if text.strip()}


@pytest.mark.parametrize("title", CASES)
def test_only_what_a_kernel_reaches_stays(title: str, tmp_path: Path) -> None:
    expected = written(tmp_path, CASES[title])
    file = next(name for name in reversed(expected) if "def kernel" in expected[name] or "kernel =" in expected[name])
    cut = slice_kernel(tmp_path / file, "kernel")
    assert cut.file == Path(file)
    result = texts(cut)
    assert result == {name: text for name, text in expected.items() if text.strip()}
    for text in result.values():
        compile(text, "slice", "exec")


def test_a_kernel_that_cannot_be_cut_out_says_why(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(
        "import triton\n\ndef make(SIZE):\n    TWICE = 2 * SIZE\n    @triton.jit\n    def kernel():\n        TWICE\n"
        "    return kernel\n\ndef first():\n    @triton.jit\n    def same(): pass\n\ndef second():\n    @triton.jit\n"
        "    def same(): pass\n"
    )
    with pytest.raises(Unsliceable, match=r"kernel.py:3: .* inside the function 'make'.* the parameter 'SIZE'"):
        slice_kernel(file, "kernel")
    with pytest.raises(Unsliceable, match="'same' is defined inside 2 functions, in lines 12, 16"):
        slice_kernel(file, "same")
    with pytest.raises(InputError, match="defines no function 'other'"):
        slice_kernel(file, "other")


KERNEL = "import triton #+\n{} #+\n\n@triton.jit #+\ndef kernel(): #+\n    helper() #+\n"
HELPER = "import triton #+\nimport torch\n@triton.jit #+\ndef helper(): #+\n    pass #+\n"


@pytest.mark.parametrize(
    ("statement", "kernel", "helper", "in_slice"),
    [
        ("from .tools import helper", "pkg/sub/kernel.py", "pkg/sub/tools.py", "sub/kernel.py"),
        ("from ..tools import helper", "pkg/sub/kernel.py", "pkg/tools.py", "pkg/sub/kernel.py"),
        ("from pkg.sub.tools import helper", "pkg/sub/kernel.py", "pkg/sub/tools.py", "pkg/sub/kernel.py"),
        ("from pkg.tools import helper", "pkg/sub/deep/kernel.py", "pkg/tools.py", "pkg/sub/deep/kernel.py"),
        ("from tools import helper", "scripts/kernel.py", "scripts/tools.py", "kernel.py"),
        ("from tools import helper", "pkg/03-kernel.py", "on_path/tools.py", "03-kernel.py"),
        ("from lib.tools import helper", "benchmarks/kernel.py", "src/lib/tools.py", "kernel.py"),
    ],
    ids=["relative", "above", "absolute", "deep", "sibling", "PYTHONPATH", "checkout"],
)
def test_modules_without_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, kernel: str, helper: str, in_slice: str
) -> None:
    """Folders without ``__init__.py``: imports begin where the file's own imports find what they name."""
    expected = written(tmp_path, {kernel: KERNEL.format(statement), helper: HELPER, "pyproject.toml": ""})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "on_path"))
    cut = slice_kernel(tmp_path / kernel, "kernel")
    assert cut.file == Path(in_slice)
    assert set(cut.sources.values()) == {tmp_path / kernel, tmp_path / helper}
    assert {cut.texts[path].decode() for path in cut.sources} == {expected[kernel], expected[helper]}
    packages = {path.parent for path in cut.texts if path.name == "__init__.py"}
    assert packages == {folder for path in cut.sources for folder in path.parents if folder.name}


def test_installed_packages_beside_the_kernel_s_are_others(tmp_path: Path) -> None:
    statement = "from other import helper"
    names = {"site-packages/pkg/kernel.py": KERNEL.format(statement), "site-packages/other.py": HELPER}
    written(tmp_path, {**names, "site-packages/pkg/__init__.py": "", "site-packages/pkg/logging.py": "helper = 1"})
    cut = slice_kernel(tmp_path / "site-packages" / "pkg" / "kernel.py", "kernel")
    assert sorted(path.as_posix() for path in cut.texts) == ["pkg/__init__.py", "pkg/kernel.py"]


def test_a_file_that_python_cannot_read_is_told_as_python_tells_it(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_bytes(b"import triton\nNAME = '\xe9'\n\n@triton.jit\ndef kernel(): pass\n")
    with pytest.raises(
        InputError, match=r"kernel.py:2: SyntaxError: \(unicode error\) 'utf-8' codec can't decode byte"
    ):
        slice_kernel(file, "kernel")


def test_what_a_kernel_imports_and_cannot_be_parsed_stays_as_it_is(tmp_path: Path) -> None:
    written(tmp_path, {"kernel.py": KERNEL.format("from tools import helper")})
    (tmp_path / "tools.py").write_bytes(b"def helper(:\n\xe9")
    cut = slice_kernel(tmp_path / "kernel.py", "kernel")
    assert cut.texts[Path("tools.py")] == b"def helper(:\n\xe9"


def test_a_change_of_a_slice_is_shown_as_a_patch_of_the_user_s_file(tmp_path: Path) -> None:
    written(tmp_path, CASES["host code goes"])
    whole = (tmp_path / "kernel.py").read_text()
    before = slice_kernel(tmp_path / "kernel.py", "kernel").texts[Path("kernel.py")].decode()
    after = before.replace("    return x * BLOCK\n", "    y = x * BLOCK\n    return y\n").replace(
        "BLOCK: tl.constexpr = 128\n", "BLOCK: tl.constexpr = 64\n"
    )
    patched = transferred(before, after, whole)
    assert patched == whole.replace("return x * BLOCK", "y = x * BLOCK\n    return y").replace("128", "64")
    assert "OTHER = torch.zeros(3)" in diff(whole, patched, "kernel.py")
    assert transferred(before, after, whole + "\n") == after
