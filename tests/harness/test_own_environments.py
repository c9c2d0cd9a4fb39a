"""Environments of the user's own: which Triton they have, and what is wrong with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from toolchain_setups import assert_one_line, script

from triage.harness.toolchains import Toolchain, Toolchains
from triage.harness.toolchains.model import fingerprint
from triage.model.compilers import TRITON
from triage.model.errors import EnvironmentFault, InputError


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A virtual environment with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    return tmp_path / "env"


def site_packages(environment: Path) -> Path:
    return next(environment.glob("lib/python*/site-packages"))


def put_triton(folder: Path, version: str | None = "3.4.0") -> Path:
    """A Triton that cannot be imported without being noticed."""
    package = folder / "triton"
    (package / "_C").mkdir(parents=True)
    (package / "_C/libtriton.so").write_bytes(b"ELF")
    (package / "backends/nvidia/bin").mkdir(parents=True)
    (package / "backends/nvidia/bin/ptxas").write_bytes(b"ptxas")
    text = "" if version is None else f"__version__ = '{version}'\n"
    (package / "__init__.py").write_text(f"'''doc'''\n{text}raise SystemExit('triton was imported')\n")
    return package


def put_record(folder: Path, version: str, name: str = "triton") -> None:
    record = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_an_own_environment(bare: Path) -> None:
    package = put_triton(site_packages(bare))
    put_record(site_packages(bare), "3.4.0")
    found = Toolchains().from_python(bare / "bin/python")
    version = ".".join(map(str, sys.version_info[:3]))
    assert found == Toolchain(bare / "bin/python", "3.4.0", version, False, found.identity, package)
    # Its folder will do, and a name that PATH knows.
    assert Toolchains().from_python(bare) == found
    assert Toolchains().resolve(python=str(bare / "bin/python")) == found


@pytest.mark.parametrize(
    ("text", "record", "expected"),
    [
        ("3.4.0", None, "3.4.0"),
        (None, "3.4.0", "3.4.0"),
        ("3.4.0", "3.4.0+git1a2b3c", "3.4.0+git1a2b3c"),
        ("3.5.0", "3.5.0rc1", "3.5.0rc1"),  # a candidate's own text says the release
    ],
)
def test_where_the_version_comes_from(bare: Path, text: str | None, record: str | None, expected: str) -> None:
    put_triton(site_packages(bare), text)
    if record is not None:
        put_record(site_packages(bare), record)
    assert Toolchains().from_python(bare).release == expected


def test_pytorchs_own_build_is_found_by_its_record(bare: Path) -> None:
    put_triton(site_packages(bare), "3.1.0")
    put_record(site_packages(bare), "3.1.0+cf34004b8a", name="pytorch-triton")
    assert Toolchains().from_python(bare).release == "3.1.0+cf34004b8a"


@pytest.mark.parametrize(("record", "expected"), [("3.4.0+git1a2b3c", "3.4.0+git1a2b3c"), ("3.1.0", "3.4.0")])
def test_a_source_build_elsewhere(bare: Path, tmp_path: Path, record: str, expected: str) -> None:
    """An editable install's record is beside, and may have been left by an older checkout."""
    package = put_triton(tmp_path / "checkout/python", "3.4.0")
    (site_packages(bare) / "editable.pth").write_text(f"{tmp_path / 'checkout/python'}\n")
    put_record(site_packages(bare), record)
    found = Toolchains().from_python(bare)
    assert (found.release, found.package) == (expected, package)


def test_neither_the_folder_nor_pythonpath_lends_a_triton(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_triton(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONHOME", "/nonexistent")
    with pytest.raises(InputError, match="has no Triton"):
        Toolchains().from_python(bare)


def test_a_folder_named_triton_is_no_triton(bare: Path) -> None:
    (site_packages(bare) / "triton").mkdir()
    with pytest.raises(InputError) as told:
        Toolchains().from_python(bare)
    assert_one_line(
        told.value, f"{bare}/bin/python has no Triton; `{bare}/bin/python -m pip install triton`", "--triton"
    )


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda package: (package / "__init__.py").write_text("__version__ = '2.1.0'\n"), "has Triton 2.1.0; 3.0 is"),
        (lambda package: (package / "_C/libtriton.so").unlink(), "without a compiled library"),
    ],
)
def test_a_triton_that_cannot_be_used(bare: Path, break_it: object, says: str) -> None:
    package = put_triton(site_packages(bare))
    assert callable(break_it)
    break_it(package)
    with pytest.raises(InputError) as told:
        Toolchains().from_python(bare)
    assert_one_line(told.value, says)


def test_what_is_no_interpreter(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    cases = {
        tmp_path / "missing": "no such file",
        Path("no-such-python"): "no such file",
        Path("~nobody-here/bin/python"): "no such file",
        tmp_path: "a folder without bin/python",
        script(tmp_path / "plain", "#!/bin/sh\n", 0o644): "Permission denied",
        script(tmp_path / "data", "\x7fELF nonsense"): "Exec format error",
        script(tmp_path / "fails", "#!/bin/sh\necho no such version >&2\nexit 127\n"): "no such version",
        script(tmp_path / "silent", "#!/bin/sh\n"): "does not answer",
        # It would take `-c` for its own, and the script's first words for a command.
        script(tmp_path / "shell", f"#!/bin/sh\ntest $1 = -c && touch {marker}\necho sh 1.0\n"): "sh 1.0",
        script(tmp_path / "broken", "#!/bin/sh\ntest $1 = -c && echo boom && exit 1\necho Python 3.11.1\n"): "boom",
        script(tmp_path / "old", _answering("3.7.17")): "Python 3.7.17 is too old; 3.8 is",
        script(tmp_path / "older", _answering("2.7.18")): "Python 2.7.18 is too old; 3.8 is",
    }
    for path, says in cases.items():
        with pytest.raises(InputError) as told:
            Toolchains().from_python(path)
        assert_one_line(told.value, f"--python {path}", says)
    assert not marker.exists()


def _answering(version: str) -> str:
    answer = json.dumps({"python": version, "package": None, "records": []})
    return f"#!/bin/sh\ntest $1 = -c && echo 'triage-probe {answer}' && exit\necho Python {version} >&2\n"


def test_a_program_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.harness.toolchains.probe.LIMIT_S", 0.2)
    sleeper = script(tmp_path / "sleeper", "#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(InputError, match="no answer within"):
        Toolchains().from_python(sleeper)


def test_what_python_prints_at_its_start_does_not_matter(bare: Path) -> None:
    put_triton(site_packages(bare))
    (site_packages(bare) / "noise.pth").write_text("import sys; print('hello'); print('hello', file=sys.stderr)\n")
    assert Toolchains().from_python(bare).release == "3.4.0"


def test_no_triton_beside_triage(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(bare / "bin/python"))
    with pytest.raises(EnvironmentFault, match=r"has no Triton; .* or use --triton VERSION"):
        Toolchains().resolve()
    assert all(one.managed for one in Toolchains().installed())


# --- identity ---------------------------------------------------------------------------------------------------


def test_identity_follows_what_decides_a_compile(tmp_path: Path) -> None:
    package = put_triton(tmp_path)

    def identity(**other: str) -> str:
        return fingerprint(package, TRITON, **{"release": "3.4.0", "python_version": "3.11.7", **other})

    seen = [identity()]
    assert identity() == seen[0]
    (package / "__pycache__").mkdir()
    (package / "__pycache__/x.cpython-311.pyc").write_bytes(b"x")
    assert identity() == seen[0], "byte code is no change"

    seen += [identity(release="3.4.1"), identity(python_version="3.12.0")]
    os.utime(package / "_C/libtriton.so", ns=(1, 1))
    seen.append(identity())
    (package / "_C/libtriton.so").write_bytes(b"longer")
    os.utime(package / "_C/libtriton.so", ns=(1, 1))
    seen.append(identity())
    (package / "backends/nvidia/bin/ptxas").write_bytes(b"another ptxas")
    seen.append(identity())
    (package / "backends/nvidia/bin/ptxas-blackwell").write_bytes(b"")
    seen.append(identity())
    (package / "compiler.py").write_text("# an edit in a source build\n")
    seen.append(identity())
    (package / "loop").symlink_to(package)
    assert identity() == seen[-1], "a link back is walked once"
    assert len(set(seen)) == len(seen)
