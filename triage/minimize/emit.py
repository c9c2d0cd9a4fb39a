"""``reproducer.py``: one file that needs Triton and nothing else, says whether the failure is there, and never mistakes
another failure for it."""

from __future__ import annotations

import pprint
import re
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from triage.case import Case
from triage.diagnosis import Diagnosis, Kind
from triage.harness.environment import worker_environment
from triage.harness.toolchains import Toolchain
from triage.logs.subject import fields
from triage.minimize.oracle import Failure
from triage.minimize.source.arguments import literal
from triage.minimize.specimen import Specimen
from triage.outcome import Outcome

_BEFORE_COMPILE_S = 60.0
"""What starting Python and importing Triton may take on top of a compile."""
_START_S = 5.0
"""The same where the compile is meant not to end in its time: little, so that one that does end is seen to."""
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
"""Addresses too: every process has its own."""
_FUTURE = re.compile(r"^from __future__ import [\w, ]+$", re.MULTILINE)
"""Must come first in a file, whatever else there is."""
_LEAST_TEXT, _MOST_TEXT = 6, 120
_PREFIX = re.compile(r"^.*?\berror: ")


@dataclass(frozen=True, slots=True)
class Expected:
    """What the reproducer looks for: a text (a regular expression), a signal, or no end within ``timeout_s``."""

    pattern: str | None = None
    signal: str | None = None
    timeout_s: float | None = None
    limit: tuple[str, int] | None = None


def expected(diagnosis: Diagnosis, outcome: Outcome) -> Expected:
    """What of a failure every process that has it shows."""
    if diagnosis.kind is Kind.TIMEOUT:
        return Expected(timeout_s=(outcome.limit_s or 0.0) + _START_S)
    if diagnosis.kind is Kind.OUT_OF_RESOURCES and outcome.over_limit and diagnosis.limit is not None:
        resource = outcome.over_limit.partition(":")[0]
        return Expected(pattern=_tolerant(f"out of resource: {resource}"), limit=(resource, diagnosis.limit))
    printed = "\n".join([outcome.log, *(f"{error.type}: {error.message}" for error in outcome.errors)])
    named = [_tolerant(_cut(field.text)) for field in fields(diagnosis) if len(field.text) >= _LEAST_TEXT]
    found = [pattern for pattern in named if re.search(pattern, printed)]
    if any(pattern != _tolerant(diagnosis.file or "") for pattern in found):
        return Expected(pattern=found[0] if len(found) == 1 else "(?s)\\A" + "".join(f"(?=.*{one})" for one in found))
    for text in _texts(diagnosis):
        if len(text) >= _LEAST_TEXT and re.search(pattern := _tolerant(_cut(text)), printed):
            return Expected(pattern=pattern)
    return Expected(signal=outcome.signal)


def _texts(diagnosis: Diagnosis) -> list[str]:
    """What else may name it, where what the signature is made of is no text that was printed."""
    line = diagnosis.message.partition("\n")[0].strip()
    # Python prints an exception within another as NameError("words"): the words alone are in both.
    return [_PREFIX.sub("", line), line, line.partition(": ")[2], diagnosis.headline, *diagnosis.notes]


def _cut(text: str) -> str:
    """Whole words up to a length that still names the failure: long messages are wrapped and cut on their way."""
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT].rpartition(" ")[0]


def _tolerant(text: str) -> str:
    """A pattern for the text that takes any numbers and any spaces."""

    def any_number(found: re.Match[str]) -> str:
        return "0x[0-9a-fA-F]+" if found[0].startswith("0x") else r"\d+"

    return r"\s+".join(_NUMBER.sub(any_number, re.escape(word)) for word in text.split())


def reproducer(specimen: Specimen, failure: Failure, triton: str, headline: str) -> str:
    """The whole script for a specimen."""
    case, wanted = specimen.case, expected(failure.diagnosis, failure.outcome)
    template = resources.files("triage.minimize").joinpath("reproducer.py.txt").read_text(encoding="utf-8")
    limit = failure.outcome.limit_s or 0.0
    needs = f"triton=={triton}"
    settings = {
        "HEADLINE": headline,
        "PATTERN": wanted.pattern,
        "SIGNAL": wanted.signal,
        "TIMEOUT_S": wanted.timeout_s,
        "LIMIT": wanted.limit,
        "PATIENCE_S": limit + _BEFORE_COMPILE_S,
    }
    shown = "\n".join(f"_{name} = {_python(value)}" for name, value in settings.items())
    constants = ", ".join(f"{name!r}: {literal(value)}" for name, value in case.constexprs.items())
    call = [
        f"_SIGNATURE = {_python(dict(case.signature))}",
        f"_CONSTEXPRS = {{{constants}}}",
        f"_DIVISIBLE = {_python([name for name, value in case.divisibility().items() if value == 16])}",
        f"_OPTIONS = {_python(dict(case.options))}",
        f"_compile({case.name})",
    ]
    imports = [line for root, line in _IMPORTS.items() if f"{root}." in constants and root not in _named(specimen)]
    parts = {
        "@NEEDS@": needs,
        "@GPU@": f"{case.target.backend!r}, {_arch(case)!r}, {case.target.warp_size}",
        "@SETTINGS@": shown,
        "@FUTURE@": "".join(f"{line}\n" for line in _FUTURE.findall(specimen.text)),
        "@KERNEL@": _FUTURE.sub("", specimen.text).strip("\n"),
        "@CALL@": "\n".join([*imports, *call]),
    }
    for mark, text in parts.items():
        template = template.replace(mark, text)
    return template


_IMPORTS = {
    "tl": "import triton.language as tl",
    "triton": "import triton",
    "gl": "from triton.experimental.gluon import language as gl",
    "ttgl": "from triton.experimental.gluon import language as ttgl",
    "gluon": "from triton.experimental import gluon",
}


def _named(specimen: Specimen) -> set[str]:
    return {root for root, line in _IMPORTS.items() if line in specimen.text}


def _python(value: object) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def _arch(case: Case) -> int | str:
    return case.target.capability or case.target.arch


def run_twice(script: Path, toolchain: Toolchain, patience_s: float) -> tuple[int, int]:
    """The script's exit codes in two fresh processes, with the toolchain's Python, in a folder of their own; -1 where
    one did not end."""

    def once() -> int:
        with tempfile.TemporaryDirectory(prefix="triage-reproducer-") as folder:
            command = [str(toolchain.python), str(script.resolve())]
            try:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env=worker_environment(),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=2 * (patience_s + _BEFORE_COMPILE_S),
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return -1
            return done.returncode

    return once(), once()
