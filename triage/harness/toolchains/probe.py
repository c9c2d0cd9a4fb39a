"""Inspects an interpreter from outside: its Python version and where its compiler is, without importing that."""

import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from triage.harness.environment import interpreter_environment
from triage.model.compilers import Compiler
from triage.model.errors import machine_fault
from triage.model.releases import without_local

# A first start from a network file system is slow; a program that is not Python may wait for ever.
LIMIT_S = 20.0

# Runs in any Python from 2.7 on, so that an old one is named and not a syntax error. A distribution may carry
# another name (PyTorch's own builds), and its record may be missing (a source build on PYTHONPATH) or stale;
# so the folder that an import would take decides, and records only add what its text does not say.
_SCRIPT = """
import json, sys
report = {"python": "%d.%d.%d" % tuple(sys.version_info[:3]), "package": None, "records": []}
if sys.version_info >= (3, 8):
    import importlib.metadata, importlib.util, os
    sys.path[:] = [entry for entry in sys.path if entry]
    module, names = sys.argv[1], sys.argv[2:]
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.origin:
        report["package"] = os.path.dirname(os.path.abspath(spec.origin))
        for name in names:
            try:
                record = importlib.metadata.distribution(name)
                report["records"].append([record.version, os.path.abspath(str(record.locate_file("")))])
            except Exception:
                pass
sys.stdout.write("\\ntriage-probe " + json.dumps(report) + "\\n")
"""
_ANSWER = re.compile(r"^triage-probe (\{.*\})$", re.MULTILINE)
_VERSION_LINE = re.compile(r"""^__version__\s*(?::\s*\w+\s*)?=\s*["']([^"']+)["']""", re.MULTILINE)


class NotPython(Exception):
    """The program did not answer as a Python interpreter does; the text says how it answered."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What an interpreter reports. ``package``: the folder of the compiler's module, None without one. ``release``:
    None when unknown."""

    python_version: str
    package: Path | None
    release: str | None


def probe(python: Path, compiler: Compiler) -> Probe:
    """Start ``python`` and ask. Raises NotPython with the reason in a few words."""
    # Asked first, since `-c` would have a shell or any other program *run* the script in its own way.
    version_line(python)
    output = _run(python, "-c", _SCRIPT, compiler.module, compiler.distribution, *compiler.also_named)
    answer = _ANSWER.search(output)
    if answer is None:
        raise NotPython(_first_line(reversed(output.splitlines())) or "it ended without an answer")
    report = json.loads(answer.group(1))
    package = Path(report["package"]) if report["package"] else None
    if package is not None and not (package / compiler.evidence).exists():
        package = None  # Another package of that name.
    return Probe(report["python"], package, _release(package, report["records"]) if package else None)


_PATH_SCRIPT = 'import json, sys; sys.stdout.write("\\ntriage-path " + json.dumps(sys.path[1:]) + "\\n")'
_PATH_ANSWER = re.compile(r"^triage-path (\[.*\])$", re.MULTILINE)


def import_path(python: Path) -> list[str]:
    """The folders in which an interpreter looks for modules, but for its program's own. Raises NotPython."""
    version_line(python)
    output = _run(python, "-c", _PATH_SCRIPT)
    answer = _PATH_ANSWER.search(output)
    if answer is None:
        raise NotPython(_first_line(reversed(output.splitlines())) or "it ended without an answer")
    return [str(folder) for folder in json.loads(answer.group(1))]


def version_line(python: Path) -> str:
    """``Python 3.11.7``. Raises NotPython."""
    answer = _first_line(_run(python, "--version").splitlines())
    if not answer.startswith("Python "):
        raise NotPython(answer or "it does not answer --version as Python does")
    return answer


def _run(python: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(python), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # `-c` puts the current folder first on sys.path, and a checkout of Triton may be there.
            cwd="/",
            env=interpreter_environment(),
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotPython(f"no answer within {LIMIT_S:.0f} s") from None
    except OSError as error:
        if (limit := machine_fault(error)) is not None:
            raise limit from None
        raise NotPython(error.strerror or str(error)) from None
    return done.stdout.decode("utf-8", "replace")


def _release(package: Path, records: list[list[str]]) -> str | None:
    """Choose between the records, each with the folder it describes, and the package's own text."""
    for record, folder in records:
        if Path(folder) == package.parent:
            return record
    try:
        text = (package / "__init__.py").read_text("utf-8", "replace")
    except OSError:
        text = ""
    line = _VERSION_LINE.search(text)
    if line is None:
        return records[0][0] if records else None
    # An editable install is recorded elsewhere. A record of the same release says more (3.4.0+git1a2b3c).
    return next((record for record, _ in records if without_local(record) == line.group(1)), line.group(1))


def _first_line(lines: Iterable[str]) -> str:
    return next((line.strip() for line in lines if line.strip()), "")[:200]
