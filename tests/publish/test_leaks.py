"""Secrets and personal paths planted in the environment, the kernel's source, the log and the IR: none leaves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import Triage
from samples import copied, in_every_format
from test_scrubber import JANE, KEYS, PRIVATE

from triage.cli.main import main
from triage.publish.compose.whole import files
from triage.publish.finished import read
from triage.publish.privacy import Scrubber

_CALM = [name for name in KEYS if name not in ("private key",)]
"""What fits into one line of a comment or a string."""


def planted(to: Path) -> Path:
    """The sample with every kind of secret in each of its texts."""
    folder = copied(to)
    lines = [KEYS[name] for name in KEYS]
    for name in ("check/log.txt", "check/kernel.ttgir", "check/python-stack.txt", "minimized/ir/before.mlir"):
        path = folder / name
        path.write_text(path.read_text() + "\n" + "\n".join(f'// loc("x": {line})' for line in lines) + "\n")
    for name in ("minimized/kernel.py", "minimized/reproducer.py"):
        path = folder / name
        comments = "\n".join(f"# {KEYS[one]}" for one in _CALM)
        strings = "\n".join(f"_{place} = {KEYS[one]!r}" for place, one in enumerate(_CALM))
        path.write_text(f"{path.read_text()}\n{comments}\n{strings}\n")
    path = folder / "check" / "report.json"
    document = json.loads(path.read_text())
    everything = "\n".join(lines)
    document["diagnosis"] |= {"message": everything, "headline": " ".join(lines), "notes": lines}
    document["case"]["origin"] = {
        "command": lines,
        "environment": {"A_TOKEN": KEYS["GitHub"], "PASSWORD": "swordfish-1"},
    }
    document["outcome"]["notes"] = lines
    document["learnt"] = lines
    document["suggestions"][0] |= {"note": everything, "why": everything, "caller": everything, "diff": everything}
    document["matches"][0] |= {"cause": everything, "title": " ".join(lines)}
    path.write_text(json.dumps(document))
    path = folder / "matrix" / "matrix.json"
    document = json.loads(path.read_text())
    document["failures"][0]["headline"] = " ".join(lines)
    document["cells"][0] |= {"reason": everything}
    document["targets"][0]["notes"] += lines
    path.write_text(json.dumps(document))
    return folder


def leaks(text: str) -> list[str]:
    """What of the planted is in a text, as it is or as a format escapes it."""
    plain = re.sub(r"&#8203;|\u200b|\\(?=[\W_])|\s", "", text)
    return [
        f"{name}: {one}"
        for name, parts in PRIVATE.items()
        for one in parts
        if one in text or "".join(one.split()) in plain
    ]


def test_the_check_sees_what_is_there() -> None:
    assert len(KEYS) > 40
    assert [name for name in KEYS if not any(found.startswith(f"{name}:") for found in leaks(KEYS[name]))] == []


def test_nothing_that_was_planted_is_in_any_format(tmp_path: Path) -> None:
    found = read(planted(tmp_path))
    made = in_every_format(found, JANE)
    assert {name: leaks(text) for name, text in made.items()} == {"md": [], "html": [], "json": [], "text": []}
    assert all("matmul" in text and "NVGPUToLLVM" in text for text in made.values())
    assert "swordfish" not in made["json"]


def test_nothing_that_was_planted_is_in_the_files_of_a_gist(tmp_path: Path) -> None:
    made = files(read(planted(tmp_path)), Scrubber(JANE))
    assert set(made) == {"report.json", "reproducer.py", "before.mlir", "log.txt", "kernel.ttgir", "python-stack.txt"}
    assert {name: leaks(text) for name, text in made.items() if leaks(text)} == {}


def test_a_name_that_the_last_line_gives_away_goes_from_the_first(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    path = folder / "check" / "report.json"
    whole = json.loads(path.read_text())
    whole["diagnosis"]["headline"] = "xavier9 asked for too much"
    path.write_text(json.dumps(whole))
    (folder / "check" / "python-stack.txt").write_text("/home/xavier9/x.py")
    assert all("xavier9" not in text for text in in_every_format(read(folder)).values())


KERNEL = '''"""{doc}"""
import triton
import triton.language as tl

{comments}
{strings}

@triton.jit
def jdoe42_scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)  # {comment}
    tl.static_assert(BLOCK > 64, "{message}")
    tl.store(x_ptr + offsets, offsets)
'''


def test_the_whole_way_from_a_kernel_with_secrets(
    check: Triage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real compile, with the values in the environment of the command that makes the report."""
    home = tmp_path / "home" / "jdoe42" / "secret-plans"
    home.mkdir(parents=True)
    source = KERNEL.format(
        doc="Ask jane.doe@acme.example",
        comments="\n".join(f"# {KEYS[name]}" for name in _CALM),
        strings="\n".join(f"_{place} = {KEYS[name]!r}" for place, name in enumerate(_CALM)),
        comment=KEYS["Hugging Face"],
        message=f"nightingale {KEYS['e-mail']} {KEYS['GitHub']}",
    )
    (home / "kernel.py").write_text(source)
    environment = {
        "USER": "jdoe42", "HOSTNAME": "gpu-node17", "HOME": str(home.parent),
        "ACME_API_TOKEN": "tiny-and-own-1", "PROJECT_CODE": "nightingale", "FULL_NAME": "Jane Q. Doe",
    }  # fmt: skip
    given = ("--arg", "x_ptr=*i32", "--arg", "n=i32", "--const", "BLOCK=64", "--no-suggest", "-o", tmp_path / "out")
    done = check(f"{home / 'kernel.py'}::jdoe42_scale", *given, **environment)
    assert done.code == 1
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name in ("md", "html", "json", "text"):
        with pytest.raises(SystemExit, match="0"):
            main(["report", str(tmp_path / "out"), "--format", name, "-o", str(tmp_path / name)])
        made = (tmp_path / name).read_text()
        assert leaks(made) == [], name
        assert "def user_scale(" in made.replace("\\_", "_") or name == "json"
        assert str(tmp_path) not in made
