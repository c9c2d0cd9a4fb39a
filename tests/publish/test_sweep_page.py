"""The page of a sweep's map: it holds every cell, stays small, and no text in it leaves its place."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import replace
from time import process_time
from typing import Any
from zlib import compress, decompress

import pytest
from hostile import HOSTILE
from sweep_maps import COMMANDS, large, matmul, view, with_text
from test_page import Page, attributes

from triage.publish.compose.sweep import SweepView
from triage.publish.formats.html import sweep
from triage.publish.formats.html.sweep import packed
from triage.publish.privacy import LocalIdentity, Scrubber
from triage.sweeps.commands import SweepCommands
from triage.sweeps.grid import Grid, SweepAxis, cells_of
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellObservation, CellState, Predicted


def data(text: str) -> dict[str, Any]:
    """What the page's script reads."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    return dict(json.loads(match[1]))


def numbers(planes: list[str]) -> list[int]:
    """Numbers from their planes."""
    texts = [decompress(b64decode(plane)) for plane in planes]
    return [sum(byte << 8 * shift for shift, byte in enumerate(each)) for each in zip(*texts, strict=True)]


def test_every_cell_has_its_state_letter_and_probability() -> None:
    whole = matmul()
    held = data(sweep.page(view(whole)))
    codes = [held["codes"][number] for number in numbers(held["cells"])]
    assert len(codes) == whole.grid.size
    predicted = {cell: group for group in whole.predicted.groups for cell in cells_of(group.cells)}
    for cell, code in enumerate(codes):
        if not whole.grid.allowed >> cell & 1:
            assert code["state"] == "outside"
            continue
        seen = whole.observations.get(cell)
        signature = seen.signature if seen else predicted[cell].signature
        letter = held["failures"][code["failure"]]["letter"] if "failure" in code else None
        assert letter == (whole.letters[signature] if signature else None)
        if seen:
            assert code["state"] == seen.state.value
        else:
            assert code["state"].startswith("predicted-")
            assert 0 <= predicted[cell].probability - code["probability"] < 0.01


def test_compiled_cells_have_their_resources() -> None:
    whole = matmul()
    held = data(sweep.page(view(whole)))
    columns = {column["name"]: [None, *column["values"]] for column in held["columns"]}
    values = {column["name"]: numbers(column["planes"]) for column in held["columns"]}
    for rank, (_, seen) in enumerate(sorted(whole.observations.items())):
        shown = {name: columns[name][values[name][rank]] for name in columns}
        assert shown["required"] == seen.required
        assert shown["registers"] == (seen.resources.registers if seen.resources else None)
        assert shown["tensor_core"] == (seen.resources.tensor_core.value if seen.resources else None)


def test_rules_mark_their_cells() -> None:
    whole = matmul()
    held = data(sweep.page(view(whole)))
    marked = [int.from_bytes(decompress(b64decode(text)), "little") for text in held["rules"]]
    assert marked == [rule.cells for rule in whole.rules]


def test_the_parts_of_a_command_make_that_of_the_cell() -> None:
    whole = matmul()
    of = view(whole)
    held = data(sweep.page(of))
    for cell in (0, 4711, whole.grid.size - 1):
        words = [axis["words"][at] for axis, at in zip(held["axes"], whole.grid.at(cell), strict=True)]
        assert " ".join([held["command"], *words]) == of.command(cell)


def test_a_list_names_its_members() -> None:
    grid = Grid((SweepAxis("configuration", ("first", "second")), SweepAxis("target", ("cuda:80", "cuda:90"))))
    seen = dict.fromkeys(range(4), CellObservation(CellState.COMPILED))
    whole = replace(matmul(), grid=grid, observations=seen, predicted=Predicted(), rules=(), failures=())
    commands = SweepCommands(("triage", "check"), COMMANDS.again, (("a.py::f",), ("b.py::g", "--num-warps", "8")))
    of = SweepView(whole, commands)
    assert of.command(3) == "triage check b.py::g --num-warps 8 --target cuda:90"
    assert data(sweep.page(of))["axes"][0]["words"] == ["a.py::f", "b.py::g --num-warps 8"]


def test_a_large_map_fits() -> None:
    started = process_time()
    text = sweep.page(view(large()))
    spent = process_time() - started
    started = process_time()
    compress(large().grid.whole.to_bytes(large().grid.size, "little"), 9)
    # Of the same work on a faster or busier machine: it is mostly this.
    assert spent < 200 * (process_time() - started)
    assert len(text) < 500_000


def test_what_does_not_fit_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = matmul()
    everything = data(sweep.page(view(whole)))
    assert everything["omitted"] == []
    for room, probabilities in ((sum(map(len, everything["cells"])) - 1, {None, 0.95}), (100, {None})):
        monkeypatch.setattr(packed, "_MOST", room)
        held = data(sweep.page(view(whole)))
        assert {code.get("probability") for code in held["codes"]} == probabilities
        assert len(numbers(held["cells"])) == whole.grid.size
    assert held["columns"] == []
    assert {"registers", "shared_bytes"} <= set(held["omitted"])


def test_more_kinds_of_cells_than_a_byte_counts() -> None:
    whole = matmul()
    letters = [replace(whole.failures[0], signature=f"s{number}") for number in range(300)]
    cells = list(cells_of(whole.grid.allowed))[:900]
    seen = {cell: CellObservation(CellState.FAILED, f"s{cell % 300}", "x") for cell in cells}
    many = replace(whole, failures=tuple(letters), observations=seen, predicted=Predicted(), rules=())
    held = data(sweep.page(view(many)))
    codes = numbers(held["cells"])
    assert [held["codes"][codes[cell]]["failure"] for cell in cells] == [cell % 300 for cell in cells]


@pytest.mark.parametrize("axes", [(), (SweepAxis("BM", (64,)),)])
def test_a_map_of_one_cell(axes: tuple[SweepAxis, ...]) -> None:
    seen = {0: CellObservation(CellState.COMPILED)}
    whole = replace(matmul(), grid=Grid(axes), observations=seen, predicted=Predicted(), rules=(), failures=())
    held = data(sweep.page(view(whole)))
    assert held["layout"] == {"rows": -1, "columns": -1, "down": -1, "across": -1}


def hostile(text: str) -> SweepMap:
    return with_text(matmul(stages=(2, 3), targets=False), text)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_leaves_its_place(name: str) -> None:
    text = sweep.page(view(hostile(HOSTILE[name])))
    page = Page(text)
    plain = Page(sweep.page(view(hostile("plain"))))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert page.odd == []
    assert {attribute for _, given in page.elements for attribute in given if attribute.startswith("on")} == set()
    assert attributes(page, "src") == []
    assert data(text)["codes"]


def test_the_page_may_load_nothing_and_run_only_its_script() -> None:
    page = Page(sweep.page(view(matmul())))
    (policy,) = [given["content"] for _, given in page.elements if given.get("http-equiv") == "Content-Security-Policy"]
    hashed = r"'sha256-[A-Za-z0-9+/]{43}='"
    sources = f"default-src 'none'; script-src {hashed}; style-src {hashed}; base-uri 'none'; form-action 'none'"
    assert re.fullmatch(sources, policy)
    assert all(link.startswith(("#", "https://github.com/")) for link in attributes(page, "href"))
    assert {"link", "img", "iframe", "object", "form", "base"}.isdisjoint(tag for tag, _ in page.elements)


def test_names_are_there_once_and_links_within_lead_somewhere() -> None:
    page = Page(sweep.page(view(matmul())))
    names = attributes(page, "id")
    assert len(names) == len(set(names))
    assert {link[1:] for link in attributes(page, "href") if link.startswith("#")} <= set(names)


def test_private_names_are_removed() -> None:
    scrubber = Scrubber(LocalIdentity(users=("jdoe",)))
    text = sweep.page(SweepView(hostile("cannot open /home/jdoe/kernels/x.py"), COMMANDS, scrubber))
    assert "jdoe" not in text
    assert "Taken out before this left the machine" in text
