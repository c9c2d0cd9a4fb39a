"""Compiles kernels for a target that is not here, and says what became of their matrix instructions and memory.

Run as a script, it is the child that imports Triton: it reads one request on standard input and writes one answer a
case. ptxas has no part in this: the last stage is PTX. A case that kills its process is answered for by its parent.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_MATRIX = re.compile(r"(tcgen05\.mma\.[\w.:]+) \[[^,]*, (\[[^,]*|%\w+), %\w+, (%\w+),")
_OLDER = re.compile(r"\b(?:mma\.sync|wgmma\.mma_async)[\w.]*")
_COPIES = re.compile(r"\bcp\.async\.bulk\.tensor[\w.:]*")
_REPLACED = re.compile(r"tensormap\.replace\.tile\.(\w+)\.\S+ \[[^\]]*\], (?:(\w+), )?([\w%]+);")
_CONSTANT = re.compile(r"mov\.(?:b|u|s)32\s+(%\w+), (-?\d+);")

UNPIPELINED = {"num_stages": 1}
"""The same instructions and columns, and a third less to compile."""


def compiled(source: str, cases: Sequence[dict[str, Any]], python: str | Path = sys.executable) -> list[dict[str, Any]]:
    """What became of each case, in their order.

    A case names a ``kernel`` of the source, its ``target`` (a compute capability), the ``types`` of its arguments, its
    ``constants`` (``dtype:NAME`` for an element type) and its ``options``. An answer has ``error`` (None, or the last
    line of what went wrong), ``tcgen05`` (mnemonic, place of A and instruction descriptor of each), ``older`` (other
    matrix instructions), ``copies`` (bulk tensor copies and how many are written), ``maps`` (constant fields of the
    tensor maps that the kernel writes, innermost axis first), ``columns`` of tensor memory and ``shared`` bytes.
    """
    jobs = 2 if len(cases) > 24 else 1  # to start one and import Triton takes as long as a dozen compiles
    shares = [cases[place::jobs] for place in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        answered = list(pool.map(lambda share: _ask(str(python), source, share), shares))
    found: list[Any] = [None] * len(cases)
    for place, share in enumerate(answered):
        found[place::jobs] = share
    return found


def _ask(python: str, source: str, cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if not cases:
        return []
    import triton_forks  # not in the child

    with tempfile.TemporaryDirectory() as folder:
        kernels = Path(folder) / "kernels.py"
        kernels.write_text(source)
        environment = {**os.environ, "TRITON_CACHE_DIR": folder, "TRITON_HOME": folder, "PYTHONPATH": ""}
        done = triton_forks.run(__file__, json.dumps({"kernels": str(kernels), "cases": cases}), python, environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _serve() -> None:
    import importlib.util

    request = json.load(sys.stdin)
    spec = importlib.util.spec_from_file_location("kernels", request["kernels"])
    assert spec is not None and spec.loader is not None
    kernels = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = kernels
    spec.loader.exec_module(kernels)
    place = 0
    while place < len(request["cases"]):
        place += _share(kernels, request["cases"][place:])


def _share(kernels: Any, cases: Sequence[dict[str, Any]]) -> int:
    """Answer cases in a child until it ends, and say how many were answered; the one that ended it has died."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with tempfile.TemporaryFile() as said, os.fdopen(writer, "w") as out:
            os.dup2(said.fileno(), 2)
            os.dup2(said.fileno(), 1)
            for case in cases:
                start = os.lseek(2, 0, os.SEEK_END)
                answer = _answer(kernels, case)
                sys.stderr.flush()
                printed = os.pread(said.fileno(), 1 << 16, start).decode(errors="replace")
                complaint = re.search(r"(?m)^.*\berror: (.*)$", printed)
                if complaint:
                    answer["error"] = complaint[1]
                out.write(json.dumps(answer) + "\n")
                out.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        lines = [line for line in answers if line.endswith("\n")]
    status = os.waitpid(child, 0)[1]
    sys.stdout.writelines(lines)
    if len(lines) == len(cases):
        return len(lines)
    print(json.dumps({"error": f"died: {status}"}), flush=True)
    return len(lines) + 1


def _answer(kernels: Any, case: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"error": None, **_compile(getattr(kernels, case["kernel"]), case)}
    except BaseException as error:
        while error.__cause__ is not None:
            error = error.__cause__
        text = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {text[-1]}"}


def _compile(kernel: Any, case: dict[str, Any]) -> dict[str, Any]:
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend

    target = GPUTarget("cuda", case["target"], 32)
    backend = make_backend(target)
    options = backend.parse_options(dict(case.get("options", {})))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    make = ASTSource
    if getattr(kernel, "is_gluon", lambda: False)():
        from triton.experimental.gluon._runtime import GluonASTSource

        make = GluonASTSource
    types = case.get("types", {})
    constants = {name: _constant(value) for name, value in case.get("constants", {}).items()}
    signature = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    attributes = {
        (place,): [["tt.divisibility", 16]]
        for place, name in enumerate(kernel.arg_names)
        if signature[name].startswith("*")
    }
    if "constexprs" in ASTSource.__init__.__code__.co_varnames:
        source = make(kernel, signature, constants, attributes)
    else:
        source = make(kernel, {name: text for name, text in signature.items() if text != "constexpr"}, constants)
    own = backend.get_codegen_implementation
    given = {
        "target": target,
        "options": options,
        "context": context,
        "codegen_fns": own(options) if "options" in own.__code__.co_varnames else own(),
    }
    if hasattr(backend, "get_module_map"):
        given["module_map"] = backend.get_module_map()
    code = source.make_ir.__code__
    module = source.make_ir(**{name: given[name] for name in code.co_varnames[: code.co_argcount] if name in given})
    stages: dict[str, Any] = {}
    if "language" in backend.add_stages.__code__.co_varnames:
        backend.add_stages(stages, options, source.language)
    else:
        backend.add_stages(stages, options)
    metadata = {"hash": "0", "target": target, **options.__dict__}
    for stage, run in stages.items():
        if stage != "cubin":
            module = run(module, metadata)
    return _read(str(module), metadata)


def _constant(value: Any) -> Any:
    """JSON has neither tuples, which Triton wants because it hashes a constant, nor element types."""
    import triton.language as tl

    if isinstance(value, str) and value.startswith("dtype:"):
        return tl.dtype(value[6:])
    return tuple(value) if isinstance(value, list) else value


def _read(ptx: str, metadata: dict[str, Any]) -> dict[str, Any]:
    """Triton writes an instruction descriptor as a constant that is moved into a register first."""
    constants = dict(_CONSTANT.findall(ptx))
    found = _COPIES.findall(ptx)
    tcgen05 = {
        (mnemonic, "tmem" if a.startswith("[") else "shared", int(constants[register]) & 0xFFFFFFFF)
        for mnemonic, a, register in _MATRIX.findall(ptx)
    }
    return {
        "tcgen05": sorted(tcgen05),
        "older": sorted(set(_OLDER.findall(ptx))),
        "copies": {copy: found.count(copy) for copy in sorted(set(found))},
        "maps": _maps(ptx, constants),
        "columns": metadata.get("tmem_size") or 0,
        "shared": metadata["shared"],
    }


def _maps(ptx: str, constants: dict[str, str]) -> dict[str, list[int]]:
    """What a kernel writes into its tensor maps, by field, for the constants."""
    found: dict[str, list[int]] = {}
    for field, _, value in _REPLACED.findall(ptx):
        number = constants.get(value, value)
        if not number.startswith("%"):
            found.setdefault(field, []).append(int(number, 0))
    return found


if __name__ == "__main__":
    _serve()
