"""``triage explain cost``: the terms of the model, and one line where there is no estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import DATA, Triage

from triage.performance.estimate.roofline import Bound

ADD = DATA / "ok.json"


def facts(explain: Triage, *arguments: object) -> dict[str, Any]:
    done = explain("explain", "cost", *map(str, arguments), "--json")
    assert done.code == 0, done.err
    document = done.document
    assert (document["schema"], document["rule"]) == ("triton-triage/explanation/1", "cost")
    found = document["facts"]
    assert isinstance(found, dict)
    return found


def test_the_terms_are_the_time(cli: Triage) -> None:
    found = facts(cli, "wgmma-mn-major-warp-specialized")
    terms = {f"{bound.value.replace('-', '_')}_us" for bound in Bound}
    shown = {name: value for name, value in found.items() if name in terms}
    assert sum(shown.values()) == pytest.approx(found["total_us"], rel=1e-3)
    assert max(shown, key=lambda name: shown[name]) == f"{found['bound_by'].replace('-', '_')}_us"
    assert (found["blocks"], found["typical"]) == (1024, False), "the case states inputs: 4096 by 4096, tiles of 128"
    assert found["resources_predicted"], "it does not compile"
    spoken = cli("explain", "cost", "wgmma-mn-major-warp-specialized").out
    assert "It does not compile (Assertion failed in WGMMAOpPattern::getPtxAsm" in " ".join(spoken.split())
    assert [line for line in spoken.splitlines() if len(line) > 100] == []


def test_what_compiles_has_the_compiler_s_resources(cli: Triage) -> None:
    found = facts(cli, ADD)
    assert (found["resources_predicted"], found["typical"], found["limited_by"]) == (False, True, "warps")
    assert found["registers"] and not found["spill_bytes"] and not found["shared_bytes"]


@pytest.mark.slow
def test_more_work_takes_longer(cli: Triage) -> None:
    few, many = (facts(cli, "shared-memory-sm86", "--target", "cuda:90", "--size", f"K={size}") for size in (512, 8192))
    assert few["sizes"] == {"K": 512}
    assert many["total_us"] > 4 * few["total_us"]


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (("name-not-defined",), 1, "no estimate: no TTIR: NameError: SCALE is not defined; `triage check"),
        (("gluon-wgmma-m32",), 2, "no estimate: no TTIR: gluon kernels begin at TTGIR"),
        ((ADD, "--target", "cuda:87"), 2, "the rates of cuda:87 are not known; give --target of a GPU that has them"),
        ((ADD, "--size", "n"), 2, "--size n: write NAME=N, as in --size M=4096"),
        ((ADD, "--size", "z=1"), 2, "--size z: not an argument of add; it has x_ptr, y_ptr, n"),
    ],
)
def test_one_line_where_there_is_no_estimate(cli: Triage, arguments: tuple[object, ...], code: int, line: str) -> None:
    done = cli("explain", "cost", *map(str, arguments))
    assert (done.code, done.out) == (code, "")
    assert line in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_ir(cli: Triage, tmp_path: Path) -> None:
    """TTIR is what the model reads; what comes after it is not."""
    ttir = tmp_path / "add.ttir"
    ttir.write_text(
        """module {
  tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) attributes {noinline = false} {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %a = tt.addptr %p, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %v = tt.load %a : tensor<1024x!tt.ptr<f32>>
    %q = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %b = tt.addptr %q, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %b, %v : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
"""
    )
    found = facts(cli, ttir)
    assert found["bound_by"] in ("dram", "latency")
    later = tmp_path / "add.ptx"
    later.write_text(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry add() { ret; }\n")
    done = cli("explain", "cost", str(later))
    assert done.code == 2
