"""Folders into which Triton writes what its stages make: its cache, and what ``TRITON_KERNEL_DUMP`` leaves.

Each stage's text is written when the stage has ended, the kernel's ``.json`` last of all (triton/compiler/compiler.py,
every release from 3.0 on; dumps have none). So the last text of a folder without a binary is what the stage was given
in which that compile ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triage.cases.artifacts import ir_text, reading
from triage.model import case as cases
from triage.model.case import Case, frozen
from triage.model.errors import InputError
from triage.model.target import Target

UNFINISHED = "unfinished"
"""In a case's ``origin``: that compile did not end."""
_STAGES = (".source", ".glir", ".ttir", ".ttgir", ".llir", ".ptx", ".amdgcn")
_BINARIES = (".cubin", ".hsaco")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_ALWAYS = ("num_warps", "num_stages", "enable_fp_fusion")
"""Options whose defaults differ over targets and releases; the others are stated where they are not the default."""
_DEFAULTS: Mapping[str, Any] = {
    "num_ctas": 1, "maxnreg": None, "debug": False, "num_consumer_groups": 0, "num_buffers_warp_spec": 0,
    "reg_dec_producer": 0, "reg_inc_consumer": 0, "ptx_version": None, "ptx_options": None, "launch_pdl": False,
    "launch_cooperative_grid": False, "instrumentation_mode": "", "min_shared_mem": None, "waves_per_eu": None,
    "matrix_instr_nonkdim": 0, "kpack": 1, "allow_flush_denorm": False, "schedule_hint": None, "sched4reg": False,
}  # fmt: skip
"""Of CUDAOptions and HIPOptions (triton/backends/*/compiler.py, 3.0 to 3.9). Metadata hold much that is no option."""
_UNSET = ("", "none", 0, None)
"""Ways in which releases say that ``waves_per_eu`` and ``schedule_hint`` are left to the compiler."""


@dataclass(frozen=True, slots=True)
class Left:
    """What one compile left in its folder: texts by ending; ``binary`` whether the last stage ended, ``metadata`` the
    kernel's ``.json``, None where it was not written."""

    folder: Path
    kernel: str
    texts: Mapping[str, Path]
    binary: bool
    metadata: Path | None

    @property
    def finished(self) -> bool:
        """It went through all of its stages."""
        return self.binary or self.metadata is not None


def left_in(folder: Path) -> Left | None:
    """What a compile left in this folder; None where it is none of a compile. Raises InputError."""
    files = {entry.name: entry for entry in reading.entries(folder) if entry.is_file()}
    stems = [Path(name).stem for name in files if Path(name).suffix in (*_STAGES, *_BINARIES)]
    if not stems:
        return None
    kernel = stems[0]
    texts = {ending: files[kernel + ending] for ending in _STAGES if kernel + ending in files}
    binary = any(kernel + ending in files for ending in _BINARIES)
    return Left(folder, kernel, texts, binary, files.get(f"{kernel}.json"))


def all_in(folder: Path) -> list[Left]:
    """What compiles left in the folders of a cache or a dump, oldest first. Raises InputError."""
    found = [left for entry in reading.entries(folder) if entry.is_dir() and (left := _left_quietly(entry))]
    return sorted(found, key=_age)


def _age(left: Left) -> float:
    try:
        return left.folder.stat().st_mtime
    except OSError:  # a program that runs may tidy its cache
        return 0.0


def _left_quietly(folder: Path) -> Left | None:
    try:
        return left_in(folder)
    except InputError:  # one folder that cannot be read is no reason to refuse the others
        return None


def case(left: Left, otherwise: Target) -> Case:
    """The compile again: from the last text on where it did not end, else from its first. Raises InputError."""
    if not left.texts:
        raise InputError(f"{left.folder}: holds no IR of {left.kernel}, only what its last stage made")
    order = [left.texts[ending] for ending in _STAGES if ending in left.texts]
    path = order[0] if left.finished else order[-1]
    found = replace(ir_text.read(path, otherwise), name=left.kernel)
    if left.metadata is None:
        # An earlier text knows less than a later one.
        found = _with_later_facts(found, order)
        return found if left.finished else replace(found, origin=frozen({**found.origin, UNFINISHED: True}))
    metadata = reading.json_object(left.metadata)
    if ".ttgir" in left.texts and (warps := ir_text.declared_in(left.texts[".ttgir"]).options.get("num_warps")):
        # Metadata count the warps of all partitions of a specialized kernel; this is what was asked for.
        metadata["num_warps"] = warps
    return _with_metadata(found, metadata, left.metadata)


def _with_later_facts(case: Case, order: list[Path]) -> Case:
    later = [ir_text.declared_in(path) for path in order if path != case.path]
    target = next((text.target for text in later if text.target), case.target)
    options = {name: value for text in later for name, value in text.options.items() if name != "maxnreg"}
    unsaid = [name for name in case.origin["unsaid"] if name not in options]
    if any(text.target for text in later):
        unsaid = [name for name in unsaid if name != "target"]
    return replace(case, target=target, options=frozen({**options, **case.options}), origin=frozen({"unsaid": unsaid}))


def _with_metadata(case: Case, metadata: dict[str, Any], path: Path) -> Case:
    target = metadata.get("target")
    if not isinstance(target, dict):
        raise InputError(f"{path}: target: not what Triton writes there: {str(target)[:80]!r}")
    try:
        parsed = Target.parse(f"{target.get('backend')}:{target.get('arch')}")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    options = {name: metadata[name] for name in _ALWAYS if name in metadata}
    for name, default in _DEFAULTS.items():
        value = metadata.get(name, default)
        if value != default and not (default is None and value in _UNSET):
            options[name] = value
    if not all(isinstance(value, bool | int | str) for value in options.values()):
        raise InputError(f"{path}: options are not what Triton writes there")
    cases.check_options(options, lambda where, problem: InputError(f"{path}: {where}: {problem}"))
    version = str(metadata.get("triton_version", ""))
    return replace(
        case,
        target=parsed,
        options=frozen(options),
        triton=version if _RELEASE.fullmatch(version) else None,
        origin=frozen({"unsaid": []}),
    )
