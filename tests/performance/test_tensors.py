"""Inputs and outputs in the worker, on the CPU: these need torch, not a GPU."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import triage.harness.worker
from triage.model.argument_types import ELEMENT_BYTES

torch = pytest.importorskip("torch")


def _worker(name: str) -> Any:
    """A module of the worker, loaded as the worker's own process does: in a package of its own."""
    package = "_triton_triage_worker"
    if package not in sys.modules:
        folder = Path(triage.harness.worker.__file__).parent
        spec = importlib.util.spec_from_file_location(
            package, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        sys.modules[package] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{package}.{name}")


tensors, outputs, timing = _worker("tensors"), _worker("outputs"), _worker("timing")


def made(name: str = "a", **stated: Any) -> Any:
    plan = {"name": name, "element": "fp32", "shape": [6, 4], "fill": "normal", "transposed": False, "block": [],
            "low": 0, "high": 1, **stated}  # fmt: skip
    return tensors.make(torch, [plan], "cpu")[0]


@pytest.mark.parametrize("element", ELEMENT_BYTES)
def test_every_type_can_be_made(element: str) -> None:
    for fill in ("zeros", "ones", "randint"):
        stored = made(element=element, fill=fill, high=2).stored
        assert (stored.element_size(), list(stored.shape)) == (ELEMENT_BYTES[element], [6, 4])


def test_fills() -> None:
    assert made(fill="ones").stored.unique().tolist() == [1.0]
    assert made(fill="zeros").stored.unique().tolist() == [0.0]
    assert made(fill="arange", element="i32").stored.reshape(-1).tolist() == list(range(24))
    uniform = made(fill="uniform", shape=[10000], low=-2, high=6).stored
    assert (uniform.min() >= -2, uniform.max() <= 6, abs(float(uniform.mean()) - 2) < 0.2) == (True, True, True)
    integers = made(fill="randint", shape=[10000], low=-3, high=5, element="i8").stored
    assert sorted(integers.unique().tolist()) == list(range(-3, 5))
    normal = made(shape=[10000]).stored
    assert (abs(float(normal.mean())) < 0.1, abs(float(normal.std()) - 1) < 0.1) == (True, True)


def test_the_values_depend_on_name_and_shape_alone() -> None:
    first, again, other = made("a"), made("a", transposed=True, element="fp16"), made("b")
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert torch.equal(first.stored.half(), again.as_filled())
    assert (list(again.stored.shape), again.stored.is_contiguous()) == ([4, 6], True)
    assert torch.equal(first.stored, made("a").stored)


def kept(tmp_path: Path, values: Any, **stated: Any) -> dict[str, Any]:
    """Keep one output, compare another with it."""
    reference = made("c", fill="zeros", **stated)
    outputs.write(torch, [reference], ["c"], tmp_path / "kept")
    candidate = made("c", fill="zeros", **stated)
    candidate = candidate._replace(stored=values(candidate.stored))
    found: dict[str, Any] = outputs.compare(torch, [candidate], ["c"], tmp_path / "kept")
    return found


def test_equal_outputs(tmp_path: Path) -> None:
    found = kept(tmp_path, lambda values: values)
    assert found == {"output": "c", "absolute": 0.0, "relative": 0.0, "undefined": 0, "elements": 24}


def test_a_difference_is_relative_to_the_largest_magnitude(tmp_path: Path) -> None:
    reference, candidate = made("c"), made("c", element="fp64")
    reference.stored[2, 3] = -8.0
    outputs.write(torch, [reference], ["c"], tmp_path / "kept")
    candidate.stored[2, 3] = -8.0
    candidate.stored[0, 0] += 2.0
    found = outputs.compare(torch, [candidate], ["c"], tmp_path / "kept")
    assert (round(found["absolute"], 5), round(found["relative"], 5), found["undefined"]) == (2.0, 0.25, 0)


def test_nan_and_infinity_in_one_alone(tmp_path: Path) -> None:
    reference, candidate = made("c"), made("c")
    for one in (reference, candidate):
        one.stored[0, 0], one.stored[0, 1] = float("nan"), float("inf")
    outputs.write(torch, [reference], ["c"], tmp_path / "kept")
    assert outputs.compare(torch, [candidate], ["c"], tmp_path / "kept")["undefined"] == 0
    candidate.stored[0, 1], candidate.stored[5, 3] = float("-inf"), float("nan")
    assert outputs.compare(torch, [candidate], ["c"], tmp_path / "kept")["undefined"] == 2


def test_what_is_not_zero_where_all_was_has_no_relative_difference(tmp_path: Path) -> None:
    found = kept(tmp_path, lambda values: values + 1)
    assert (found["absolute"], found["relative"]) == (1.0, None)


def test_an_output_that_is_stored_transposed_is_compared_as_it_was_filled(tmp_path: Path) -> None:
    outputs.write(torch, [made("c")], ["c"], tmp_path / "kept")
    found = outputs.compare(torch, [made("c", transposed=True)], ["c"], tmp_path / "kept")
    assert found["absolute"] == 0.0


def test_the_worst_of_several_outputs_is_told(tmp_path: Path) -> None:
    outputs.write(torch, [made("c"), made("d")], ["c", "d"], tmp_path / "kept")
    d = made("d")
    d.stored.add_(1)
    assert outputs.compare(torch, [made("c"), d], ["c", "d"], tmp_path / "kept")["output"] == "d"


def test_other_inputs_are_not_compared(tmp_path: Path) -> None:
    outputs.write(torch, [made("a"), made("c")], ["c"], tmp_path / "kept")
    assert outputs.compare(torch, [made("a", fill="ones"), made("c")], ["c"], tmp_path / "kept") == {
        "incomparable": True
    }
    assert outputs.compare(torch, [made("a"), made("c")], ["e"], tmp_path / "kept") == {"incomparable": True}


def test_large_outputs_are_compared_at_evenly_spaced_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "_MOST_ELEMENTS", 10)
    assert kept(tmp_path, lambda values: values)["elements"] == 8


@pytest.mark.parametrize(
    ("estimate_ms", "launches"), [(0.0, 500), (0.01, 500), (1.0, 200), (10.0, 20), (100.0, 20), (3000.0, 10), (1e6, 3)]
)
def test_how_many_launches_are_timed(estimate_ms: float, launches: int) -> None:
    assert timing.count(estimate_ms) == launches
