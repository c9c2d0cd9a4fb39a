"""Asks a real Triton: kernels compiled up to the front end, or to the end, in a child process that may die.

Run as a script, it is that child: it reads one request on standard input and writes one answer a case. It runs in the
interpreter under test and imports nothing but Triton and the standard library.
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

TARGETS = (
    *("cuda:75", "cuda:80", "cuda:89", "cuda:90", "cuda:100", "cuda:120"),
    *("hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100", "hip:gfx1200"),
)
_INTEGER = {"i": "int", "u": "uint"}
MATRIX = re.compile(r"\bv_(?:s?mfmac?|s?wmmac?)\w+|\bmma\.sync[\w.:]+|\bwgmma\.mma_async[\w.:]+|\btcgen05\.mma[\w.:]+")


def answers(
    source: str,
    cases: Sequence[dict[str, Any]],
    python: str | Path = sys.executable,
    whole: bool = False,
) -> list[dict[str, Any]]:
    """What Triton says of each case, in their order: ``error`` (None where it was accepted; the last line of what went
    wrong, or how the child died) and, for whole compiles, ``matrix`` (the matrix instructions in the assembly).

    A case names a ``kernel`` of the source, its ``target``, the ``types`` of its pointers and its ``constants``
    (``dtype:NAME`` for an element type).
    """
    jobs = 2 if len(cases) > 100 or (whole and len(cases) > 24) else 1  # a start takes as long as a dozen compiles
    shares = [cases[place::jobs] for place in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        answered = list(pool.map(lambda share: _ask(str(python), source, share, whole), shares))
    found: list[Any] = [None] * len(cases)
    for place, share in enumerate(answered):
        found[place::jobs] = share
    return found


def _ask(python: str, source: str, cases: Sequence[dict[str, Any]], whole: bool) -> list[dict[str, Any]]:
    if not cases:
        return []
    import triton_forks  # not in the child

    with tempfile.TemporaryDirectory() as folder:
        kernels = Path(folder) / "kernels.py"
        kernels.write_text(source)
        request = {"kernels": str(kernels), "cases": cases, "whole": whole}
        environment = {**os.environ, "TRITON_CACHE_DIR": folder, "TRITON_HOME": folder, "PYTHONPATH": ""}
        done = triton_forks.run(__file__, json.dumps(request), python, environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _serve() -> None:
    request = json.load(sys.stdin)
    kernels = _load(request["kernels"])
    cases, whole = request["cases"], request["whole"]
    found: list[dict[str, Any]] = []
    while len(found) < len(cases):
        found += _share(kernels, cases[len(found) :], whole)
    for place, answer in enumerate(found):
        # LLVM may fail for what it compiled before: such a failure counts once it was seen in a process of its own.
        if whole and (answer["error"] or "").startswith(("died", "RuntimeError")):
            found[place] = _share(kernels, cases[place : place + 1], whole)[0]
    for answer in found:
        print(json.dumps(answer))


def _load(path: str) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location("kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = module
    spec.loader.exec_module(module)
    return module


def _share(kernels: Any, cases: Sequence[dict[str, Any]], whole: bool) -> list[dict[str, Any]]:
    """Answer cases in a child until it ends; the last answer is of the case that ended it, if one did."""
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
                answer = _answer(kernels, case, whole)
                sys.stderr.flush()
                printed = os.pread(said.fileno(), 1 << 16, start).decode(errors="replace")
                complaint = re.search(r"(?m)^.*\berror: .*$", printed)
                if answer["error"] is None and whole and complaint:
                    answer["error"] = complaint.group()
                out.write(json.dumps(answer) + "\n")
                out.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        found = [json.loads(line) for line in answers if line.endswith("\n")]
    status = os.waitpid(child, 0)[1]
    if len(found) < len(cases):
        found.append({"error": f"died: {status}", "matrix": []})
    return found


def _answer(kernels: Any, case: dict[str, Any], whole: bool) -> dict[str, Any]:
    try:
        return {"error": None, "matrix": _compile(getattr(kernels, case["kernel"]), case, whole)}
    except BaseException as error:
        while error.__cause__ is not None:
            error = error.__cause__
        text = str(error).strip().splitlines() or [type(error).__name__]
        return {"error": f"{type(error).__name__}: {text[-1]}", "matrix": []}


def _compile(kernel: Any, case: dict[str, Any], whole: bool) -> list[str]:
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    name, arch = case["target"].split(":")
    wide = name == "hip" and arch.startswith("gfx9")
    target = GPUTarget(name, int(arch) if name == "cuda" else arch, 64 if wide else 32)
    backend = make_backend(target)
    options = backend.parse_options(dict(case.get("options", {})))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = _source(kernel, case)
    functions = {"codegen_fns": _codegen(backend, options), "context": context, "options": options}
    if hasattr(backend, "get_module_map"):
        functions["module_map"] = backend.get_module_map()
    accepted = source.make_ir.__code__.co_varnames[: source.make_ir.__code__.co_argcount]
    functions["target"] = target
    module = source.make_ir(**{key: value for key, value in functions.items() if key in accepted})
    if not whole:
        return []
    stages: dict[str, Any] = {}
    if "language" in backend.add_stages.__code__.co_varnames:
        from triton.backends.compiler import Language

        backend.add_stages(stages, options, Language.TRITON)
    else:
        backend.add_stages(stages, options)
    metadata = {"hash": "0", "target": target, **options.__dict__}
    found: list[str] = []
    for stage, run in stages.items():
        if stage == "hsaco":  # the linker has no part in this, and up to 3.4 may be missing
            break
        module = run(module, metadata)
        if stage in ("ptx", "amdgcn"):
            found = sorted(set(MATRIX.findall(module)))
    return found


def _codegen(backend: Any, options: Any) -> Any:
    if "options" in backend.get_codegen_implementation.__code__.co_varnames:
        return backend.get_codegen_implementation(options)
    return backend.get_codegen_implementation()


def _source(kernel: Any, case: dict[str, Any]) -> Any:
    import triton.language as tl
    from triton.compiler.compiler import ASTSource

    def constant(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("dtype:"):
            return tl.dtype(re.sub(r"\A([iu])(\d+)\Z", lambda found: _INTEGER[found[1]] + found[2], value[6:]))
        return tuple(value) if isinstance(value, list) else value

    constants = {name: constant(value) for name, value in case.get("constants", {}).items()}
    types = case.get("types", {})
    names = kernel.arg_names
    if "constexprs" in ASTSource.__init__.__code__.co_varnames:
        return ASTSource(kernel, {name: types.get(name, "constexpr") for name in names}, constants)
    return ASTSource(kernel, {name: types[name] for name in names if name in types}, constants)


if __name__ == "__main__":
    _serve()
