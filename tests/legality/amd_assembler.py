"""Asks LLVM's AMDGPU assembler, as Triton ships it, which lines it takes.

Run as a script, it is the child that imports Triton: ``{"arch": [line, …]}`` on standard input, the rejected lines by
arch on standard output (null for an arch that LLVM does not know). One run reports every line that is wrong.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MNEMONIC = re.compile(rb"v_(?:mfma|smfmac|wmma|swmmac)_(?:scale(?:16)?_)?[a-z]+\d+(?:f32)?_\d+x\d+x\d+[a-z0-9_]*")


def rejected(
    lines: Mapping[str, Sequence[str]], python: str | Path = sys.executable
) -> dict[str, frozenset[str] | None]:
    """For each arch the lines that its assembler refuses; None where LLVM does not know the arch."""
    import triton_forks  # not in the child

    done = triton_forks.run(__file__, json.dumps(lines), python)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    return {arch: None if bad is None else frozenset(bad) for arch, bad in found.items()}


def mnemonics() -> tuple[str, ...]:
    """Every matrix instruction by the names in the assembler's own table, read from the library's bytes."""
    spec = importlib.util.find_spec("triton")
    assert spec is not None and spec.submodule_search_locations
    package = Path(spec.submodule_search_locations[0])
    own = package / "backends/amd/lib/libtriton_amd_codegen.so"
    library = own if own.exists() else package / "_C/libtriton.so"
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = {match.decode() for match in _MNEMONIC.findall(data)}
    return tuple(sorted(found))


def _serve() -> None:
    assemble = _assembler()
    print(json.dumps({arch: _one(assemble, arch, lines) for arch, lines in json.load(sys.stdin).items()}))


def _assembler() -> Any:
    from triton._C.libtriton import amd, llvm
    from triton.backends.amd import compiler

    llvm.init_targets()
    # From 3.9 on the AMD back end has an LLVM of its own.
    return getattr(compiler, "assemble_amdgcn", amd.assemble_amdgcn)


def _one(assemble: Any, arch: str, lines: Sequence[str]) -> list[str] | None:
    with tempfile.TemporaryFile() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        raised = ""
        try:
            assemble("\n".join(lines) + "\n", arch, "")
        except Exception as error:
            raised = str(error)
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
        size = said.seek(0, os.SEEK_END)
        printed = os.pread(said.fileno(), size, 0).decode()
    if "invalid AMD GPU architecture" in raised or "not a recognized processor" in printed:
        return None
    # An assembler quotes each line that it refuses.
    return sorted(set(lines) & set(printed.splitlines()))


if __name__ == "__main__":
    _serve()
