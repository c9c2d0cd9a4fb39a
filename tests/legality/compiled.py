"""Asks a real Triton: kernels compiled to PTX in child processes, with hints of divisibility.

Run as a script, it is that child: a module of kernels and a list of cases on standard input, one answer a case.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def children(cases: int) -> int:
    """How many children share them: to start one and import Triton takes as long as a dozen small compiles."""
    return 2 if cases > 24 else 1


def compile_all(source: str, cases: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """``ttgir`` and ``ptx`` of each case (``error`` where it did not compile), in their order.

    A case has a ``kernel`` of the source, a ``capability``, the ``types`` of its arguments, ``divisible`` by argument
    (left out: not known) and ``constants`` (``dtype:NAME`` for an element type).
    """
    jobs = children(len(cases))
    shares = [cases[place::jobs] for place in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        answered = list(pool.map(lambda share: _child(source, share), shares))
    found: list[dict[str, str]] = [{}] * len(cases)
    for place, share in enumerate(answered):
        found[place::jobs] = share
    return found


def _child(source: str, cases: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    import triton_forks  # not in the child

    with tempfile.TemporaryDirectory() as folder:
        kernels = Path(folder) / "kernels.py"
        kernels.write_text(source)
        environment = {**os.environ, "TRITON_CACHE_DIR": folder, "TRITON_HOME": folder, "PYTHONPATH": ""}
        request = json.dumps({"kernels": str(kernels), "cases": cases})
        done = triton_forks.run(__file__, request, environment=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return answers


def _main() -> None:
    # Only the child imports Triton, and standard output carries its answers alone.
    import importlib.util

    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    sys.path.append(str(Path(__file__).parents[1] / "capture/programs"))
    import toolbox

    toolbox.share_key()
    request = json.load(sys.stdin)
    spec = importlib.util.spec_from_file_location("kernels", request["kernels"])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answers = []
    for case in request["cases"]:
        constants = {
            name: getattr(tl, value[6:]) if isinstance(value, str) else value
            for name, value in case["constants"].items()
        }
        names = list(case["types"])
        divisible = case.get("divisible", {})
        attributes = {(names.index(name),): [["tt.divisibility", by]] for name, by in divisible.items() if by > 1}
        signature = {**case["types"], **dict.fromkeys(constants, "constexpr")}
        made = ASTSource(getattr(module, case["kernel"]), signature, constexprs=constants, attrs=attributes)
        try:
            kernel = triton.compile(made, target=GPUTarget("cuda", case["capability"], 32))
            answers.append({"ttgir": kernel.asm["ttgir"], "ptx": kernel.asm["ptx"]})
        except Exception as error:
            answers.append({"error": str(error)})
    print(json.dumps(answers))


if __name__ == "__main__":
    _main()
