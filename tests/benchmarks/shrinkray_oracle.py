"""The oracle of ``triage minimize`` for another reducer: a warm process that judges candidates, one a line.

Run by path beside triage: ``shrinkray_oracle.py CASE``, with ``--fit`` for a caller who adjusts the call to the kernel:
arguments that a candidate's kernel no longer has are not passed. Each line on standard input is a JSON string, the
whole text of a candidate; each line on standard output is ``[verdict, compiles so far]``. The first line, before any
candidate, is the original's. What cannot be judged ends this process, as it ends ``triage minimize``.
"""

from __future__ import annotations

import ast
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.toolchains import Toolchains
from triage.minimize.oracle import CountingRunner, Oracle
from triage.minimize.problem import Verdict
from triage.minimize.source.compiling import Compiler
from triage.minimize.source.specimen import Specimen


def parsed(text: str) -> ast.Module | None:
    """None where Python would not import it: no compile is spent on that."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def packages(tree: ast.Module) -> set[str]:
    """What a module imports, by the first part of its name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def fitted(specimen: Specimen, tree: ast.Module) -> Specimen:
    """The specimen with only those arguments that its kernel still has."""
    kernels = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == specimen.case.name]
    if not kernels:
        return specimen
    left = {node.arg for node in ast.walk(kernels[-1].args) if isinstance(node, ast.arg)}
    given = [*specimen.case.signature, *specimen.case.constexprs]
    return replace(specimen, case=specimen.case_without([name for name in given if name not in left]))


def main(path: Path, fit: bool) -> None:
    case = documents.load(path)
    toolchains = Toolchains()
    toolchain = toolchains.resolve(case.triton)
    case = replace(case, triton=toolchain.release)
    original = Specimen(case.path.read_text(encoding="utf-8"), case, in_package=True)
    limits = Limits(memory_bytes=default_memory_bytes())
    with TemporaryDirectory(prefix="triage-shrinkray-") as folder, Engine(1, spare=toolchains.installed) as engine:
        runner = CountingRunner(engine)
        compiler = Compiler(runner, toolchain, limits, Path(folder))
        failure = compiler.learn(original)
        oracle = Oracle(runner, compiler.trials(failure), Specimen.key, failure.repeats)
        print(json.dumps([Verdict.SAME.value, runner.runs]), flush=True)
        imported = packages(ast.parse(original.text))
        warnings.simplefilter("ignore", SyntaxWarning)  # Candidates have odd literals.
        for line in sys.stdin:
            candidate = replace(original, text=json.loads(line), in_package=False)
            verdict = Verdict.INVALID
            # A package of another name is a name that lost letters; the oracle would say that the environment lacks it.
            if (tree := parsed(candidate.text)) is not None and packages(tree) <= imported:
                verdict = oracle.ask([fitted(candidate, tree) if fit else candidate])[0]
            print(json.dumps([verdict.value, runner.runs]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--fit" in sys.argv[2:])
