"""Hostile texts: mutated case documents, fuzzed logs, and secrets in what is published."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import call_triage
from logs.test_dense import FLOODS
from samples import copied
from test_case_fuzz import KERNEL, MOST_LINE, PATHS, VALUES, changed, works
from test_command_secrets import COMMANDS, PREFIXES
from test_command_secrets import LAYOUTS as COMMAND_LAYOUTS
from test_credentials import AROUND, LAYOUTS, NAMED, TOKENS, generated
from test_encoding_layers import LAYERS

import triage
from soak.campaign import Defect, Part
from triage.frontends import documents
from triage.model.diagnosis import Kind
from triage.model.errors import InputError
from triage.publish.render import Format

LOGS = sorted((Path(__file__).parents[1] / "logs" / "data").glob("*.log"))

# --- case.json ------------------------------------------------------------------------------------------------------


def mutated(choose: random.Random) -> bytes:
    """A document with other values at one to three places, and at times a text that is damaged."""
    document: Any = changed(choose.choice(PATHS), choose.choice([*VALUES, ...]))
    for _ in range(choose.choice([0, 0, 1, 2])):
        path, value = choose.choice(PATHS), choose.choice(VALUES)
        parent = document
        try:
            for name in path[:-1]:
                parent = parent[name]
            parent[path[-1]] = value
        except (LookupError, TypeError):
            continue
    data = bytearray(json.dumps(document).encode())
    match choose.choice(["", "", "", "cut", "flip", "insert", "twice", "encoding"]):
        case "cut":
            del data[choose.randrange(len(data)) :]
        case "flip":
            for _ in range(choose.randint(1, 5)):
                data[choose.randrange(len(data))] = choose.randrange(256)
        case "insert":
            at = choose.randrange(len(data))
            data[at:at] = choose.choice([b"\0", b"\xef\xbb\xbf", b"[" * 100_000, b"1e9999", b"9" * 5000, b"NaN", b","])
        case "twice":
            data[-1:] = b", " + data[1:]
        case "encoding":
            data = bytearray(data.decode().encode(choose.choice(["utf-16", "utf-32", "utf-7", "cp037"])))
    return bytes(data)


def mutated_cases(part: Part) -> None:
    for current in part.tries():
        path = current.working / "case.json"
        data = mutated(current.random)
        path.write_bytes(data)
        (current.working / "kernel.py").write_text(KERNEL)
        current.description = repr(data[:1500])
        try:
            works(documents.load(path))
        except InputError as error:
            is_line = len(str(error)) < MOST_LINE + len(str(path)) and not re.search(r"[\0-\x1f\x7f]", str(error))
            current.expect(is_line, Defect.INTERNAL, f"not a line: {str(error)[:500]!r}")
        except Exception as error:
            current.report(Defect.INTERNAL, repr(error)[:500])
        if current.number % 400 == 0:
            done = current.triage("check", ".", "--no-suggest", "--timeout", "10", bound_s=10)
            current.expect(done.code in (0, 1, 2, 3), Defect.INTERNAL, f"exit code {done.code}: {done.err[-500:]}")


# --- logs -----------------------------------------------------------------------------------------------------------

SECONDS_A_MB, LEAST_S = 0.2, 0.1


def fuzzed(choose: random.Random) -> bytes:
    """Pieces of real logs, dense repetitions and binary data, in random order."""
    data = b""
    for _ in range(choose.randint(1, 6)):
        text = choose.choice(LOGS).read_bytes()
        lines = text.splitlines(keepends=True)
        match choose.choice(["piece", "lines", "dense", "flood", "binary", "wide", "shuffled"]):
            case "piece":
                start = choose.randrange(len(text))
                data += text[start : start + choose.randint(1, 4000)]
            case "lines":
                data += b"".join(choose.choices(lines, k=choose.randint(1, 3000)))
            case "dense":
                data += choose.choice(lines) * choose.randint(2, 20_000)
            case "flood":
                build = FLOODS[choose.choice(sorted(FLOODS))]
                data += "".join(f"{build(number)}\n" for number in range(choose.randint(10, 20_000))).encode()
            case "binary":
                data += choose.randbytes(choose.randint(1, 50_000))
            case "wide":
                data += choose.choice(lines).strip() * choose.randint(2, 5000)
            case _:
                words = text.split(b" ")
                choose.shuffle(words)
                data += b" ".join(words)
    return data[: 8 << 20]


def fuzzed_logs(part: Part) -> None:
    for current in part.tries():
        data = fuzzed(current.random)
        path = current.working / "log"
        path.write_bytes(data)
        bound_s = LEAST_S + SECONDS_A_MB * len(data) / (1 << 20)
        began = time.process_time()
        try:
            diagnosis = triage.diagnose(path)
            kind = diagnosis.kind if diagnosis is not None else None
            json.dumps(diagnosis.to_json() if diagnosis is not None else None, allow_nan=False).encode()
        except InputError:
            kind = None
        except Exception as error:
            current.report(Defect.INTERNAL, repr(error)[:500])
            continue
        took = time.process_time() - began
        current.description = f"{len(data)} bytes"
        current.expect(kind is None or kind in Kind, Defect.FALSE, f"kind {kind}")
        current.expect(took <= 2 * bound_s, Defect.LATE, f"{took:.2f} s for {bound_s:.2f} s")


# --- secrets --------------------------------------------------------------------------------------------------------

SECRETS = 12
"""In one triage."""
WINDOW = 8
"""So many letters of a secret in a row are a leak; of fewer, texts have some by chance."""
VARIABLE = "ACME_SERVICE_KEY"


def secret(choose: random.Random) -> tuple[str, list[str]]:
    """A text with a credential, at times below layers of escapes, and the credential's secret parts."""
    text, parts = unescaped(choose)
    for _ in range(choose.choice([0, 0, 0, 1, 2, 3])):
        text = choose.choice(list(LAYERS.values()))(text)
    return text, parts


def unescaped(choose: random.Random) -> tuple[str, list[str]]:
    if choose.random() < 0.2:
        command, parts = generated(choose.choice(COMMANDS), choose.randrange(1 << 30))
        layout = choose.choice([str, *COMMAND_LAYOUTS.values()])
        # A list of words has its own quotation marks.
        return (choose.choice(PREFIXES) if layout is str else "") + layout(command), parts
    anywhere = choose.random() < 0.5
    text, parts = generated(choose.choice(list((TOKENS if anywhere else NAMED).values())), choose.randrange(1 << 30))
    layout = choose.choice([str, str, *LAYOUTS.values()])
    around = choose.choice(list(AROUND.values())) if anywhere else choose.choice(["{}", "a\n{}\nb"])
    return layout(around.replace("{}", text)), parts


def into_text(path: Path, text: str, choose: random.Random) -> None:
    # Never within another that has several lines.
    before = path.read_text()
    path.write_text(f"{text}\n{before}" if choose.random() < 0.5 else f"{before}\n{text}\n")


def into_source(path: Path, text: str, choose: random.Random) -> None:
    comment = "\n".join(f"# {line}" for line in text.split("\n"))
    path.write_text(f"{path.read_text()}\n{choose.choice([comment, f'_x = {text!r}', repr(text)])}\n")


def into_document(path: Path, text: str, choose: random.Random) -> None:
    """In place of, or behind, a string of the document that people read."""
    document = json.loads(path.read_text())
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(below, dict | list):
                walk(below)
            elif isinstance(below, str) and key in ("message", "headline", "note", "cause", "title", "reason", "why"):
                places.append((value, key))

    walk(document)
    if "case" in document and choose.random() < 0.4:
        document["case"]["origin"] = {"command": [text], "environment": {"NOTE": text}, text[:200]: 1}
    elif places:
        parent, key = choose.choice(places)
        parent[key] = f"{parent[key]} {text}"
    path.write_text(json.dumps(document))


PLACES: dict[str, Callable[[Path, str, random.Random], None]] = {
    "check/log.txt": into_text,
    "check/python-stack.txt": into_text,
    "check/kernel.ttgir": into_text,
    "minimized/ir/before.mlir": into_text,
    "minimized/kernel.py": into_source,
    "minimized/reproducer.py": into_source,
    "check/report.json": into_document,
    "matrix/matrix.json": into_document,
}


def leaked(text: str, parts: list[str]) -> list[str]:
    """Secret parts in a text as it is, or as a format escapes it."""
    plain = re.sub(r"&#8203;|\u200b|\\(?=[\W_])|\s", "", text)
    return [
        part
        for part in parts
        if any(part[at : at + WINDOW] in view for view in (text, plain) for at in range(len(part) - WINDOW + 1))
    ]


def planted_secrets(part: Part) -> None:
    for current in part.tries():
        choose = current.random
        folder = copied(current.working)
        planted = []
        for _ in range(SECRETS):
            name = choose.choice(sorted(PLACES))
            text, parts = secret(choose)
            planted.append((name, text, parts))
            PLACES[name](folder / name, text, choose)
        own = "".join(choose.choices("abcdefghijkmnpqrstuvwxyz23456789", k=16))
        into_text(folder / "check/log.txt", f"connected with {own} to the store", choose)
        planted.append(("variable", own, [own]))
        form = choose.choice([one.value for one in Format])
        posted = ["attach", folder, "--repo", "octo/kernels", "--dry-run", *choose.choice([[], ["--gist"]])]
        for command in (["report", folder, "--format", form], posted):
            done = call_triage(current.cache, *command, **{VARIABLE: own})
            current.description = f"{command[0]} {form}"
            current.expect(done.code == 0, Defect.INTERNAL, done.err[-1000:])
            # In a dry run the texts are within JSON.
            text = done.out + done.err + str(json.loads(done.out) if command is posted and done.code == 0 else "")
            for name, secret_text, parts in planted:
                if found := leaked(text, parts):
                    at = text.find(found[0][:WINDOW])
                    context = text[max(0, at - 80) : at + 120]
                    current.report(Defect.LEAK, f"{name}: {secret_text!r}: {found} in {context!r}")
