"""The page of a sweep's map in a real browser: what it shows, by mouse and keyboard, without a request or violation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browsers import Violations
from hostile import HOSTILE
from sweep_maps import large, matmul, view, with_text

from triage.publish.formats.html import sweep
from triage.sweeps.observation import CellState

MAPS = {
    "sampled": matmul,
    "large": large,
    "hostile": lambda: with_text(matmul(stages=(2, 3), targets=False), "\n".join(HOSTILE.values())),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("maps")
    for name, made in MAPS.items():
        text = sweep.page(view(made())).encode("utf-8", "replace")
        (folder / f"{name}.html").write_bytes(text)
    return {name: folder / f"{name}.html" for name in MAPS}


@contextmanager
def opened(browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> Iterator[Any]:
    """The page, once it shows its cells. Nothing but itself may be asked for, and nothing may be wrong in it."""
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        context.set_default_timeout(10_000)
        page = context.new_page()
        problems: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("[role=gridcell]")
        yield page
        assert (problems, requests) == ([], [path.as_uri()])


def fix(page: Any, **values: str) -> None:
    """Choose values of axes."""
    page.evaluate("document.querySelector('#controls details').open = true")  # It is closed on a phone.
    for name, value in values.items():
        page.locator("#controls").get_by_label(name, exact=True).select_option(label=value)


SLICE = {"dtype": "tl.float32", "BN": "128", "num_warps": "4", "num_stages": "3", "EVEN": "True"}
_QUICK = {("sampled", "light", 390), ("sampled", "dark", 1280)}
_SHOWN = [
    pytest.param(name, scheme, width, marks=() if (name, scheme, width) in _QUICK else pytest.mark.slow)
    for name in MAPS
    for scheme in ("light", "dark")
    for width in (390, 1280)
]


@pytest.mark.parametrize(("name", "scheme", "width"), _SHOWN)
def test_it_reads_by_everybody(
    browser: Any, pages: dict[str, Path], violations: Violations, name: str, scheme: str, width: int
) -> None:
    with opened(browser, pages[name], width, scheme) as page:
        assert violations(page) == []
        page.click("[data-rule]")
        page.click("[role=gridcell] >> nth=5")
        assert violations(page) == []
        if name == "sampled":
            fix(page, **SLICE)
            assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_every_slice_shows_what_is_known(browser: Any, pages: dict[str, Path]) -> None:
    whole = matmul()
    with opened(browser, pages["sampled"]) as page:
        fix(page, **SLICE)
        tables = page.evaluate(
            "[...document.querySelectorAll('#panels table')].map((table) => [table.caption.textContent,"
            " [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll('td')].map((cell) =>"
            " cell.firstChild.textContent))])"
        )
    positions, of = whole.grid.positions, view(whole)
    texts = {name: [str(value) for value in whole.grid.axes[index].values] for name, index in positions.items()}
    assert len(tables) == 6
    for title, rows in tables:
        release, target = title.removeprefix("triton ").split(", ")
        for row, bk in zip(rows, texts["BK"], strict=True):
            for sign, bm in zip(row, texts["BM"], strict=True):
                values = {**SLICE, "BK": bk, "BM": bm, "target": target, "triton": release}
                cell = whole.grid.number(texts[name].index(values[name]) for name in texts)
                (look,) = [look for look, cells in of.looks.items() if cells >> cell & 1]
                assert sign == look.sign


def test_a_cell_gives_its_command_and_resources(browser: Any, pages: dict[str, Path]) -> None:
    whole = matmul()
    of = view(whole)
    compiled = next(cell for cell, seen in whole.observations.items() if seen.state is CellState.COMPILED)
    seen = whole.observations[compiled].resources
    assert seen is not None
    values = {name: str(value) for name, value in whole.grid.values(compiled).items()}
    with opened(browser, pages["sampled"]) as page:
        for name, value in values.items():
            if name not in ("BM", "BK", "target", "triton"):
                fix(page, **{name: value})
        table = page.locator(
            "#panels table", has=page.locator(f"caption:text-is('triton {values['triton']}, {values['target']}')")
        )
        at = whole.grid.at(compiled)
        row, column = at[whole.grid.positions["BK"]], at[whole.grid.positions["BM"]]
        table.locator("tbody tr").nth(row).locator("td").nth(column).click()
        assert page.inner_text("#cell pre").replace("\n", " ").strip() == of.command(compiled)
        resources = page.inner_text("#cell .resources")
        assert f"{seen.registers} a thread" in resources
        assert f"{seen.shared_bytes:,} bytes a block" in resources


def test_the_grid_is_walked_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    here = (
        "(() => { const cell = document.activeElement, row = cell.parentElement, table = cell.closest('table');"
        " return [[...document.querySelectorAll('#panels table')].indexOf(table), row.rowIndex - 2,"
        " cell.cellIndex - 1] })()"
    )
    with opened(browser, pages["sampled"]) as page:
        page.focus("[role=gridcell][tabindex='0']")
        walk = {"ArrowRight": [0, 0, 1], "ArrowDown": [0, 1, 1], "End": [0, 1, 3], "ArrowRight ": [0, 1, 3]}
        walk |= {"Home": [0, 1, 0], "ArrowUp": [0, 0, 0], "PageDown": [1, 0, 0], "Control+End": [1, 3, 3]}
        for key, expected in walk.items():
            page.keyboard.press(key.strip())
            assert page.evaluate(here) == expected, key
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        # Each grid is one stop of the Tab key.
        tabbable = (
            "[...document.querySelectorAll('#panels table')].map((t) => t.querySelectorAll('[tabindex=\"0\"]').length)"
        )
        assert page.evaluate(tabbable) == [1] * 6
        page.keyboard.press("Enter")
        assert page.get_attribute("[aria-selected=true]", "class") is not None
        assert "triage check matmul" in page.inner_text("#cell")
        page.keyboard.press("Escape")
        assert page.query_selector("[aria-selected=true]") is None
        assert page.evaluate(here) == [1, 3, 3]


def test_a_rule_marks_its_cells(browser: Any, pages: dict[str, Path]) -> None:
    whole = matmul()
    with opened(browser, pages["sampled"]) as page:
        page.click("[data-rule='0']")
        assert page.get_attribute("[data-rule='0']", "aria-pressed") == "true"
        covered = (whole.rules[0].cells & whole.grid.allowed).bit_count()
        assert f"the rule covers {covered:,} of the cells shown" in page.inner_text("#status")
        assert page.locator(".covered").count() == 12
        page.click("[data-rule='0']")
        assert page.locator(".covered").count() == 0


def test_narrowing_down_keeps_the_cell(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["sampled"]) as page:
        page.click("td.mixed >> nth=0")
        before = page.inner_text("#cell .values")
        page.click("#cell .narrow button >> nth=0")
        assert page.inner_text("#cell .values").startswith("dtype tl.float16".replace(" ", "\n"))
        assert set(before.split()) < set(page.inner_text("#cell .values").split())


def test_axes_change_places(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["sampled"]) as page:
        controls = page.locator("#controls")
        fix(page, Rows="BM")
        columns = controls.get_by_label("Columns", exact=True)
        assert columns.evaluate("select => select.selectedOptions[0].text") == "BK"
        fix(page, **{"Grids down": "none"})
        assert page.locator("#panels table").count() == 3
        assert controls.get_by_label("triton", exact=True).count() == 1


def test_a_large_map_opens(browser: Any, pages: dict[str, Path]) -> None:
    """864,000 cells: within 2 s on a machine that does nothing else, and a share of this test's limit here."""
    with opened(browser, pages["large"]) as page:
        assert page.evaluate("performance.now()") < 10_000
        status = page.inner_text("#status")
    of = view(large())
    legal = sum(cells.bit_count() for look, cells in of.looks.items() if look.legal)
    assert f"{legal:,} legal" in status
