"""Mutated case documents: a case that works, or one line that names file and field."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from triage.frontends import documents
from triage.model.case import Case
from triage.model.errors import InputError

KERNEL = """
import triton

@triton.jit
def add(x_ptr, n, BLOCK):
    pass
"""
DOCUMENT: dict[str, Any] = {
    "schema": "triton-triage/case/1",
    "language": "triton",
    "kernel": {"file": "kernel.py", "name": "add"},
    "signature": {"x_ptr": "*fp32", "n": "i32"},
    "constexprs": {"BLOCK": 128, "LAYOUT": "tl.float32", "SHAPE": [1, 2]},
    "divisible": {"n": 16},
    "target": "cuda:90",
    "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": 64},
    "toolchain": {"triton": "3.2.0"},
    "origin": {"issue": 1, "functions": {"add": ["add", 4]}},
    "inputs": {
        "sizes": {"M": 4096},
        "arguments": {"x_ptr": {"shape": ["M"], "fill": "normal"}, "n": "M"},
        "grid": ["cdiv(M, BLOCK)"],
        "outputs": ["x_ptr"],
        "tolerance": 0.004,
        "flops": "2 * M",
    },
}
MOST_LINE = 1000


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


# Values that no field expects, as JSON can hold them.
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3, 16, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, 1e308, -0.0,
    float("nan"), float("inf"), float("-inf"), "", "\ud800", "a\0b", "x" * 5000, "y" * 5000 + ".py", "\x1b[31m", "\n",
    "../../etc/passwd", "/dev/zero", ".", "kernel.py", "add", "nowhere", "tl.float32", "cuda:90", "cuda:999999", "i32",
    "*" * 3000 + "i32", "tensordesc<fp16[1],f(" + "(" * 500, "M // 0", "9**9**9**9", "cdiv(M, 0)", "M" + " + M" * 2000,
    "(" * 3000, "1e999", "-" * 2000 + "1", [], {}, [None], ["M"], {"M": None}, {"x_ptr": 16}, nested(60),
    {"a": nested(60)}, {"z" * 5000: 1}, {"\udfff": 1}, {"a b": 1}, {"": "i32"}, ["i32", 4.5, {}],
]  # fmt: skip


def positions(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value in a document."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(below for name, child in children for below in positions(child, (*path, name)))]


def changed(path: tuple[Any, ...], value: Any = ...) -> dict[str, Any]:
    """The document with another value at a path, or with none."""
    document = copy.deepcopy(DOCUMENT)
    parent = document
    for name in path[:-1]:
        parent = parent[name]
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = copy.deepcopy(value)
    return document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mutated")
    (folder / "kernel.py").write_text(KERNEL)
    return folder


PATHS = [path for path in positions(DOCUMENT) if path]


@pytest.mark.parametrize("share", [pytest.param(1, marks=pytest.mark.slow), 12], ids=["every value", "some values"])
def test_a_mutated_case_is_a_case_or_one_line(folder: Path, share: int) -> None:
    for number, path in enumerate(PATHS):
        chosen = VALUES[number % share :: share]
        below = [(*path, "zz")] if isinstance(at(path), dict) else []
        for document in [changed(path), *(changed(place, value) for place in [path, *below] for value in chosen)]:
            tried(folder, document)


@settings(max_examples=30)
@given(
    path=some.sampled_from(PATHS),
    value=some.recursive(
        some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=20),
        lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
)
def test_any_value_is_a_case_or_one_line(folder: Path, path: tuple[Any, ...], value: Any) -> None:
    tried(folder, changed(path, value))


def at(path: tuple[Any, ...]) -> Any:
    value: Any = DOCUMENT
    for name in path:
        value = value[name]
    return value


def tried(folder: Path, document: dict[str, Any]) -> None:
    path = folder / "case.json"
    path.write_text(json.dumps(document))
    try:
        case = documents.load(path)
    except InputError as error:
        line = str(error)
        assert line.startswith((f"{path}: ", f"{folder}/kernel.py: "))
        assert len(line) < MOST_LINE + len(str(path))
        assert line.encode()
    else:
        works(case)


def works(case: Case) -> None:
    """What every command does with a case."""
    document = json.dumps(case.to_json(), allow_nan=False)
    again = documents.checked(json.loads(document), case.folder, "again")
    assert json.loads(json.dumps(again.to_json())) == json.loads(document)
    assert again.identity() == case.identity()
    assert json.dumps(case.to_message(), allow_nan=False).encode()
    assert case.settings().encode()


@pytest.mark.parametrize("name", ["num_warps", "num_stages", "num_ctas", "maxnreg"])
def test_a_null_option_is_not_stated(folder: Path, name: str) -> None:
    (folder / "case.json").write_text(json.dumps({**DOCUMENT, "options": {name: None}}))
    case = documents.load(folder)
    assert case.options == {}
    assert case.with_changes({name: None}).options == {}


@pytest.mark.parametrize("again", ['"target": "cuda:80"', '"kernel": {}'])
def test_a_field_that_stands_there_twice_is_an_error(folder: Path, again: str) -> None:
    (folder / "case.json").write_text(f"{json.dumps(DOCUMENT)[:-1]}, {again}}}")
    with pytest.raises(InputError, match="appears twice; remove one of them"):
        documents.load(folder)
