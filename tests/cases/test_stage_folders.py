"""Folders of Triton's own: the cache, whole or one compile's, and what TRITON_KERNEL_DUMP leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Triage, call_triage
from compile_outputs import OutputsOf
from golden_files import Golden

from triage.cases.locate import locate, locate_all
from triage.harness.toolchains import Toolchain
from triage.model.errors import InputError
from triage.model.language import Language

NAMES = {
    "a compile that raised": ("float-atomic-xor", "checksum.ttgir", "hip:gfx1100", {"num_warps": 4, "num_ctas": 1}),
    "one that ptxas refused": ("asm-unknown-instruction", "half.ptx", "cuda:90", {"num_warps": 4, "num_ctas": 1}),
}


@pytest.mark.parametrize(("case", "file", "target", "options"), NAMES.values(), ids=NAMES.keys())
def test_an_unfinished_compile_goes_on_from_its_last_text(
    outputs_of: OutputsOf, case: str, file: str, target: str, options: dict[str, Any]
) -> None:
    left = outputs_of(case)
    found = locate_all(str(left.entry))
    (one,) = found.cases
    assert (one.path.suffix, str(one.target)) == (Path(file).suffix, target)
    assert {name: one.options[name] for name in options} == options
    assert one.path.parent == left.entry
    assert found.notes == (f"{left.entry}: a compile of {one.name} that did not end; compiled from {one.file} on",)


def test_a_whole_cache_gives_what_did_not_end(outputs_of: OutputsOf, tmp_path: Path) -> None:
    for case in ("float-atomic-xor", "asm-unknown-instruction"):
        (tmp_path / case).symlink_to(outputs_of(case).entry)
    assert_links_are_not_followed(tmp_path)
    cache = tmp_path / "cache"
    cache.mkdir()
    for number, case in enumerate(("float-atomic-xor", "asm-unknown-instruction")):
        folder = cache / case
        folder.mkdir()
        for path in outputs_of(case).entry.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        os.utime(folder, (number, number))
    finished = cache / "finished"
    finished.mkdir()
    (finished / "k.cubin").write_bytes(b"\x7fELF")
    found = locate_all(str(cache))
    assert [case.folder.name for case in found.cases] == ["float-atomic-xor", "asm-unknown-instruction"]
    assert found.notes[0] == f"{cache}: 3 compiles, 2 of them did not end"
    with pytest.raises(InputError, match="contains 2 cases, expected one"):
        locate(str(cache))


def assert_links_are_not_followed(folder: Path) -> None:
    with pytest.raises(InputError, match="no files of a compile"):
        locate_all(str(folder))


def test_a_dump_is_read_like_a_cache(outputs_of: OutputsOf) -> None:
    left = outputs_of("float-atomic-xor")
    (one,) = locate_all(str(left.dump)).cases
    assert one.path.read_text() == next(left.entry.glob("*.ttgir")).read_text()


@pytest.mark.slow
def test_check_of_a_cache(outputs_of: OutputsOf, tmp_path: Path, release: Callable[[str], Toolchain]) -> None:
    left = outputs_of("float-atomic-xor")
    done = call_triage(
        tmp_path / "cache", "check", left.cache, "--no-suggest", "--json", "--python", release("newest").python
    )
    assert done.code == 1
    report = done.document
    assert (report["outcome"]["stage"], report["diagnosis"]["pass"]) == ("llir", "convert-triton-amdgpu-to-llvm")
    assert report["case"]["kernel"]["file"] == "checksum.ttgir"
    assert "1 compile, 1 of them did not end" in done.err


METADATA = {
    "hash": "0",
    "target": {"backend": "cuda", "arch": 86, "warp_size": 32},
    "num_warps": 8,
    "num_stages": 2,
    "num_ctas": 1,
    "maxnreg": 96,
    "enable_fp_fusion": True,
    "waves_per_eu": 0,
    "schedule_hint": "none",
    "triton_version": "3.9.0",
    "shared": 0,
    "name": "k",
}
TTIR = "module {\n  tt.func public @k() {\n    tt.return\n  }\n}\n"


def finished(folder: Path, metadata: Any, **texts: str) -> Path:
    for ending, text in {"ttir": TTIR, **texts}.items():
        (folder / f"k.{ending}").write_text(text)
    (folder / "k.json").write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))
    return folder


def test_a_finished_compile_is_compiled_again_as_it_was(tmp_path: Path) -> None:
    found = locate_all(str(finished(tmp_path, METADATA)))
    (one,) = found.cases
    assert (one.file, str(one.target), one.triton) == ("k.ttir", "cuda:86", "3.9.0")
    assert dict(one.options) == {"num_warps": 8, "num_stages": 2, "enable_fp_fusion": True, "maxnreg": 96}
    assert found.notes == (f"{tmp_path}: a finished compile of k; compiled again from k.ttir",)


def test_the_warps_of_a_specialized_kernel(tmp_path: Path) -> None:
    """Its metadata count those of all partitions: 12, which no option can be."""
    ttgir = (
        'module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 12 : i32} {\n  tt.func public @k() {\n'
    )
    finished(tmp_path, {**METADATA, "num_warps": 12}, ttgir=ttgir)
    assert locate(str(tmp_path)).options["num_warps"] == 4


def test_gluons_source_has_layouts(tmp_path: Path) -> None:
    source = 'module attributes {"ttg.num-warps" = 4 : i32} {\n  tt.func public @k() {\n'
    (tmp_path / "k.source").write_text(source)
    assert locate(str(tmp_path)).language is Language.GLUON
    (tmp_path / "k.source").write_text(TTIR)
    assert locate(str(tmp_path)).language is Language.TRITON


BAD = {
    "no JSON": "{",
    "another JSON": "[1]",
    "no target": {**METADATA, "target": 3},
    "an unknown target": {**METADATA, "target": {"backend": "tpu"}},
    "options of another sort": {**METADATA, "num_warps": {"a": 1}},
    "warps that cannot be": {**METADATA, "num_warps": 3},
    "deep": "[" * 100_000,
    "binary": "\0",
}


@pytest.mark.parametrize("metadata", BAD.values(), ids=BAD.keys())
def test_metadata_of_another_sort(tmp_path: Path, golden: Golden, metadata: Any) -> None:
    with pytest.raises(InputError) as caught:
        locate(str(finished(tmp_path, metadata)))
    golden(str(caught.value))
    assert "\n" not in str(caught.value)


def test_a_store_of_binaries_alone(tmp_path: Path) -> None:
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF")
    with pytest.raises(InputError, match="contains no IR of k"):
        locate(str(tmp_path))


def test_nothing_unfinished(tmp_path: Path, cli: Triage) -> None:
    entry = tmp_path / "entry"
    entry.mkdir()
    finished(entry, METADATA)
    done = cli("check", tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "1 compile, all finished" in done.err
