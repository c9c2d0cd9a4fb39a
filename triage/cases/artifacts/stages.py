"""Folders into which Triton writes the results of its stages: its cache, and those of ``TRITON_KERNEL_DUMP``.

Each stage's text is written when the stage has ended, the kernel's ``.json`` last of all (triton/compiler/compiler.py,
every release from 3.0 on; dumps have none). So in a folder without a binary, the last text is the
input of the stage in which the compile died.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triage.cases.artifacts import ir_text, reading
from triage.frontends import triton
from triage.model.case import Case, frozen
from triage.model.errors import InputError
from triage.model.target import Target

UNFINISHED = "unfinished"
"""Key in a case's ``origin``: the compile did not finish."""
_STAGES = (".source", ".glir", ".ttir", ".ttgir", ".llir", ".ptx", ".amdgcn")
_BINARIES = (".cubin", ".hsaco")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_ALWAYS = ("num_warps", "num_stages", "enable_fp_fusion")
"""Options whose defaults differ between targets and releases; of the others, only non-default values are kept."""
_DEFAULTS: Mapping[str, Any] = {
    "num_ctas": 1, "maxnreg": None, "debug": False, "num_consumer_groups": 0, "num_buffers_warp_spec": 0,
    "reg_dec_producer": 0, "reg_inc_consumer": 0, "ptx_version": None, "ptx_options": None, "launch_pdl": False,
    "launch_cooperative_grid": False, "instrumentation_mode": "", "min_shared_mem": None, "waves_per_eu": None,
    "matrix_instr_nonkdim": 0, "kpack": 1, "allow_flush_denorm": False, "schedule_hint": None, "sched4reg": False,
}  # fmt: skip
"""From CUDAOptions and HIPOptions (triton/backends/*/compiler.py, 3.0 to 3.9). Metadata also contain other things."""
_UNSET = ("", "none", 0, None)
"""Values with which releases leave ``waves_per_eu`` and ``schedule_hint`` to the compiler."""


@dataclass(frozen=True, slots=True)
class Remains:
    """The files of one compile: texts by ending, and the kernel's ``.json`` in ``metadata``, None if not written.
    ``finished``: the compile completed all stages. ``top``: the folder that the user named."""

    folder: Path
    top: Path
    kernel: str
    texts: Mapping[str, Path]
    finished: bool
    metadata: Path | None


def read(folder: Path, top: Path) -> Remains | None:
    """The files of a compile in this folder, in or below ``top``; None if it contains none. Raises InputError."""
    files = {entry.name: entry for entry in reading.entries(folder) if entry.is_file()}
    stems = [Path(name).stem for name in files if Path(name).suffix in (*_STAGES, *_BINARIES)]
    if not stems:
        return None
    kernel = stems[0]
    texts = {ending: files[kernel + ending] for ending in _STAGES if kernel + ending in files}
    metadata = files.get(f"{kernel}.json")
    finished = metadata is not None or any(kernel + ending in files for ending in _BINARIES)
    return Remains(folder, top, kernel, texts, finished, metadata)


def read_all(folder: Path, top: Path) -> list[Remains]:
    """The compiles in the folders of a cache or a dump in or below ``top``, oldest first. Raises InputError."""
    compiles = []
    for entry in reading.entries(folder):
        # One that cannot be read, or that a running program deletes, does not hide the others.
        with suppress(InputError, OSError):
            if entry.is_dir() and (remains := read(entry, top)) is not None:
                compiles.append((entry.stat().st_mtime, remains))
    return [remains for _, remains in sorted(compiles, key=lambda pair: pair[0])]


def case(remains: Remains, default: Target) -> Case:
    """The case that repeats a compile: from its first text, or from its last if it did not finish.

    ``default`` is the target if the files name none. Raises InputError.
    """
    if not remains.texts:
        raise InputError(f"{remains.folder}: contains no IR of {remains.kernel}, only the result of its last stage")
    order = [remains.texts[ending] for ending in _STAGES if ending in remains.texts]
    top, path = remains.top, order[0] if remains.finished else order[-1]
    repeated = replace(ir_text.read(path, top, default), name=remains.kernel)
    if remains.metadata is None:
        # Later texts declare more than earlier ones.
        repeated = _with_later_facts(repeated, order, top)
        return repeated if remains.finished else replace(repeated, origin=frozen({**repeated.origin, UNFINISHED: True}))
    metadata = reading.json_object(remains.metadata, top)
    if (ttgir := remains.texts.get(".ttgir")) and (warps := ir_text.declared_in(ttgir, top).options.get("num_warps")):
        # Metadata count the warps of all partitions of a specialized kernel; the text has the requested number.
        metadata["num_warps"] = warps
    return _with_metadata(repeated, metadata, remains.metadata)


def _with_later_facts(case: Case, order: list[Path], top: Path) -> Case:
    later = [ir_text.declared_in(path, top) for path in order if path != case.path]
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
    triton.check_options(options, lambda where, problem: InputError(f"{path}: {where}: {problem}"))
    version = str(metadata.get("triton_version", ""))
    return replace(
        case,
        target=parsed,
        options=frozen(options),
        triton=version if _RELEASE.fullmatch(version) else None,
        origin=frozen({"unsaid": []}),
    )
