"""Records what people would paste of each reproducer's failures: python tests/knowledge/record_outputs.py

Every reproducer is compiled on the newest release of each of its recorded signatures (stored outcomes are used). Its
log and traceback are written to ``outputs.json.gz``, a failure a line, without the paths of the machine and without
triage's own frames. A long log is cut in the middle where its diagnosis stays the same.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from triage import api
from triage.cases import reproducers
from triage.filesystem.shipped import data_folder
from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.request import FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.knowledge import observed
from triage.knowledge.observed import Behaviour
from triage.model.outcome import Outcome, PythonError, Status, Undecided

FILE = Path(__file__).parent / "outputs.json.gz"
TIMEOUT_S = 120
LINKED = ["", "The above exception was the direct cause of the following exception:", ""]
#: What a shell prints below the output of a process that a signal ended.
SIGNALS = {
    "SIGABRT": "Aborted (core dumped)",
    "SIGSEGV": "Segmentation fault (core dumped)",
    "SIGFPE": "Floating point exception (core dumped)",
}
#: Numbers of lines that are kept of each end of a long log, the smallest that is enough.
KEPT = (10, 25, 80)
OWN_FRAME = re.compile(r'  File "[^"\n]*/triage/harness/[^\n]*\n(?:    [^\n]*\n)*')
PATHS = [
    (r"[\w./-]*/site-packages/", "/opt/venv/lib/python3.11/site-packages/"),
    (r"[\w./-]*/reproducers/[\w-]+/?", "/home/user/"),
    (r"[\w./-]*/triage/harness/worker/", "/home/user/"),
    (r"/tmp/tmp\w+/?", "/tmp/"),
    (r"/root/", "/home/user/"),
]


def requests(toolchains: Toolchains) -> Iterator[Request]:
    limits = Limits(TIMEOUT_S, default_memory_bytes())
    for name in reproducers.names():
        folder = data_folder("reproducers") / name
        case = documents.load(folder / "case.json")
        seen = set()
        for release, observation in reversed(observed.read(folder).get("case", {}).items()):
            fails = observation.behaviour is Behaviour.FAILS and observation.status != Status.TIMEOUT.value
            if fails and observation.signature not in seen:
                seen.add(observation.signature)
                toolchain = toolchains.resolve(release, compiler=case.compiler)
                action = FullCompile(observe=True, use_cache=True)
                yield Request(case.with_release(release), toolchain, limits, action, (name, release))


def traceback_of(error: PythonError) -> list[str]:
    lines = ["Traceback (most recent call last):"]
    for frame in error.frames:
        lines += [f'  File "{frame.file}", line {frame.line}, in {frame.function}', f"    {frame.text.strip()}"]
    module = "" if error.module in ("", "builtins") else f"{error.module}."
    return [*lines, *f"{module}{error.type}: {error.message}".rstrip(": ").split("\n")]


def pasted(outcome: Outcome) -> list[str]:
    lines = outcome.log.rstrip().split("\n") if outcome.log.strip() else []
    if not any(line.startswith("Traceback (most") for line in lines):
        for index, error in enumerate(reversed(outcome.errors)):
            lines += [*(LINKED if index else []), *traceback_of(error)]
    if outcome.signal in SIGNALS and not outcome.errors:
        lines.append(SIGNALS[outcome.signal])
    text = OWN_FRAME.sub("", "\n".join(lines))
    for pattern, replacement in PATHS:
        text = re.sub(pattern, replacement, text)
    return text.split("\n")


def shortened(lines: list[str]) -> str:
    whole = "\n".join(lines) + "\n"
    expected = shown(whole)
    shorter = ("\n".join([*lines[:kept], *lines[-kept:]]) + "\n" for kept in KEPT if len(lines) > 2 * kept)
    return next((text for text in shorter if shown(text) == expected), whole)


def shown(text: str) -> tuple[str, str, list[str]]:
    diagnosis = api.diagnose(text)
    return diagnosis.kind.value, diagnosis.headline, [match.id for match in api.match(diagnosis)]


def main() -> None:
    toolchains = Toolchains()
    texts: dict[str, str] = {}
    with Engine(jobs=2, store=Store(), spare=toolchains.installed) as engine:
        for attempt in engine.run(list(requests(toolchains))):
            if isinstance(attempt.result, Undecided) or attempt.result.over_limit:
                continue
            name, release = attempt.request.tag
            lines = pasted(attempt.result)
            if any(line.strip() for line in lines):
                texts[f"{name}@{release}"] = shortened(lines)
    write(texts)


def write(texts: dict[str, str]) -> None:
    # Without a time the file is the same if the texts are.
    FILE.write_bytes(gzip.compress(json.dumps(texts, indent=0, sort_keys=True).encode(), mtime=0))


if __name__ == "__main__":
    main()
