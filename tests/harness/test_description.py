"""Kernels described by a worker: parameters, configurations of autotune, values of heuristics."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernel_cases
import pytest

from triage.harness.description import KernelDescription, described
from triage.harness.engine import Engine
from triage.harness.request import DescribeKernel, Request
from triage.harness.toolchains import Toolchain
from triage.model.language import Language
from triage.model.outcome import Outcome, Status, Undecided

releases = pytest.mark.parametrize(
    "version",
    ["newest", *(pytest.param(f"3.{minor}", marks=pytest.mark.slow) for minor in range(9))],
)
Describe = Callable[..., "KernelDescription | Outcome | Undecided"]


@pytest.fixture
def describe(shared_engine: Engine, release: Callable[[str], Toolchain], tmp_path: Path) -> Describe:
    def describe(
        name: str, arguments: dict[str, Any], version: str = "newest", file: str = "decorated.py"
    ) -> KernelDescription | Outcome | Undecided:
        action = DescribeKernel(tmp_path / "described.json", arguments)
        request = Request(kernel_cases.case(file, name, {}), release(version), action=action)
        (attempt,) = shared_engine.run([request])
        return described(attempt)

    return describe


@releases
def test_decorators_are_followed_as_a_launch_does(describe: Describe, version: str) -> None:
    arguments = {"x_ptr": {"pointer": "fp16"}, "bias_ptr": None, "n": 192, "stride": 1}
    found = describe("tuned", arguments, version)
    assert isinstance(found, KernelDescription), found
    assert (found.name, found.language, found.autotuned) == ("tuned", Language.TRITON, True)
    assert (found.key, found.left_out, found.notes) == (("n", "stride"), 0, ())

    parameters = {parameter.name: parameter for parameter in found.parameters}
    assert [name for name, parameter in parameters.items() if not parameter.constexpr] == [*arguments]
    assert [name for name, parameter in parameters.items() if parameter.do_not_specialize] == ["n"]
    assert parameters["stride"].annotation == "i64"
    defaults = {p.name: (p.default, p.default_problem) for p in found.parameters if p.has_default}
    assert defaults == {
        "LIMIT": (2.5, ""),
        "OUT": ("tl.bfloat16", ""),
        "ODD": (None, "a type cannot be a value of a case"),
    }

    blocks = [(c.arguments, c.options["num_warps"], c.heuristics["EVEN"]) for c in found.configurations]
    tile = {"TYPE": "tl.float32"}
    assert blocks == [
        ({"BLOCK": 64, **tile}, 4, True),
        ({"BLOCK": 64, **tile}, 8, True),
        ({"BLOCK": 128, **tile}, 4, False),
        ({"BLOCK": 128, **tile}, 8, False),
    ]
    last = found.configurations[-1]
    assert last.heuristics == {"EVEN": False, "HAS_BIAS": False, "ALIGNED": True}
    assert {name: last.options[name] for name in ("num_stages", "num_ctas", "waves_per_eu")} == {
        "num_stages": 1,
        "num_ctas": 2,
        "waves_per_eu": 2,
    }
    assert last.unknown == {
        "ROWS": "it needs x_ptr.shape, which is not known",
        "COLUMNS": "it needs the argument ROWS, whose value is not known",
    }


@pytest.mark.parametrize("version", ["newest", pytest.param("3.0.0", marks=pytest.mark.slow)])
def test_thousands_of_configurations_are_cut(describe: Describe, version: str) -> None:
    """The class of the decorator is the package's own, and heuristics above it do not see its arguments."""
    found = describe("many", {"n": 7}, version)
    assert isinstance(found, KernelDescription), found
    assert (len(found.configurations), found.left_out) == (1000, 1000)
    assert found.configurations[63].arguments == {"BLOCK": 1 << 63}
    assert found.configurations[64].unknown == {"BLOCK": f"{1 << 64} does not fit into 64 bits"}
    assert {configuration.heuristics["WIDE"] for configuration in found.configurations} == {False}


@pytest.mark.parametrize("version", ["newest", pytest.param("3.4.0", marks=pytest.mark.slow)])
def test_blocks_of_descriptors_are_those_that_hooks_set(describe: Describe, version: str) -> None:
    found = describe("described", {"y_ptr": {"pointer": "fp16"}}, version)
    assert isinstance(found, KernelDescription), found
    assert [configuration.blocks for configuration in found.configurations] == [
        {"x_desc": (64, 32)},
        {"x_desc": (128, 32)},
    ]
    assert found.notes == ("of a pre_hook, only the blocks of descriptors were looked at",)


def test_a_kernel_in_a_function_of_its_decorator(describe: Describe) -> None:
    found = describe("plain", {})
    assert isinstance(found, KernelDescription), found
    assert ([p.name for p in found.parameters], found.autotuned) == (["x_ptr"], False)
    (only,) = found.configurations
    assert (only.arguments, only.options, only.heuristics, only.unknown) == ({}, {}, {}, {})


@pytest.mark.parametrize("version", ["newest", pytest.param("3.6.0", marks=pytest.mark.slow)])
def test_a_gluon_kernel(describe: Describe, version: str) -> None:
    found = describe("tile", {}, version, "gluon_mma.py")
    assert isinstance(found, KernelDescription), found
    assert found.language is Language.GLUON


def test_without_a_kernel_there_is_the_reason(describe: Describe, tmp_path: Path) -> None:
    missing = describe("absent", {})
    assert isinstance(missing, Undecided)
    assert missing.reason.startswith("no function 'absent'; jitted here: tuned, many")
    module = tmp_path / "raises.py"
    module.write_text("raise ValueError('no')\n")
    failed = describe("absent", {}, file=str(module))
    assert isinstance(failed, Outcome)
    assert (failed.status, failed.imported) == (Status.ERROR, False)


def test_a_description_is_read_strictly(describe: Describe, tmp_path: Path) -> None:
    """The process that writes it has run the user's code."""
    module = tmp_path / "forges.py"
    module.write_text(
        "import atexit, json, triton\n"
        "from triton.runtime import JITFunction\n"
        "class Parameter:\n"
        "    name = 'x'\n"
        "    annotation_type = is_constexpr = has_default = do_not_specialize = ''\n"
        "@triton.jit\n"
        "def kernel(x):\n"
        "    pass\n"
        "JITFunction.params = property(lambda self: [Parameter()], lambda self, value: None)\n"
        "Parameter.name = 7\n"
    )
    found = describe("kernel", {}, file=str(module))
    assert isinstance(found, Undecided)
    assert found.reason.startswith("forges.py: its description cannot be read: description: parameters[0].name: ")
    assert json.loads((tmp_path / "described.json").read_text())["name"] == "kernel"
