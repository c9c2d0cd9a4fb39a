"""What code generators on top of Triton write: Inductor's modules and Helion's reports of failures.

The files in ``generated/`` were written by torch 2.11.0 and Helion 1.4.0 on an H200 with Triton 3.6.0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Triage, new_cache
from golden_files import Golden

from triage.cases.artifacts import generated
from triage.cases.artifacts.resolve import is_generated
from triage.cases.locate import locate, locate_all
from triage.harness.toolchains import Toolchain
from triage.model.diagnosis import Kind
from triage.model.errors import InputError
from triage.model.outcome import Status
from triage.pipeline import Options, Session

GENERATED = Path(__file__).parent / "generated"
BEST = {"XBLOCK": 1024, "num_warps": 4, "num_stages": 1, "found_by_coordesc": False}


@pytest.fixture(autouse=True)
def own_cases(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases made from files go to a cache of the test's own."""
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(new_cache(tmp_path_factory.mktemp("cache"))))


def copy(name: str, folder: Path, best: dict[str, Any] | None = None) -> Path:
    path = folder / f"{name}.py"
    path.write_text((GENERATED / f"{name}.py.txt").read_text())
    if best is not None:
        (folder / "0.best_config").write_text(json.dumps(best))
    return path


def test_inductors_kernel_with_the_blocks_that_were_best(tmp_path: Path, newest_session: Session) -> None:
    case = locate(str(copy("pointwise", tmp_path, BEST)))
    assert (case.name, str(case.target)) == ("triton_poi_fused__to_copy_2", "cuda:90")
    assert dict(case.signature) == {"in_ptr0": "*fp32", "out_ptr0": "*fp8e4nv", "xnumel": "i32"}
    assert dict(case.constexprs) == {"XBLOCK": 1024}
    assert case.divisibility() == {"in_ptr0": 16, "out_ptr0": 16}
    assert dict(case.options) == {
        "enable_fp_fusion": True, "num_warps": 4, "num_stages": 1, "debug": True, "sanitize_overflow": False,
    }  # fmt: skip
    report = newest_session.check(case)
    assert report.outcome.status is Status.OK


def test_what_inductor_calls_has_a_stand_in(tmp_path: Path, newest_session: Session) -> None:
    given = {"const": ["XBLOCK=8", "R0_BLOCK=512"], "num_warps": 16, "num_stages": 1}
    case = locate(str(copy("reduction", tmp_path)), given)
    assert "triton_helpers.maximum" in case.path.read_text()
    report = newest_session.check(case)
    assert report.outcome.status is Status.OK
    assert report.outcome.resources is not None


def test_what_has_no_stand_in_needs_torch(tmp_path: Path, newest_session: Session) -> None:
    path = copy("reduction", tmp_path)
    path.write_text(path.read_text().replace("triton_helpers.maximum", "triton_helpers.frexp"))
    case = locate(str(path), {"const": ["XBLOCK=8", "R0_BLOCK=512"]})
    with pytest.raises(Exception, match=r"imports torch\._inductor, which this environment does not have"):
        newest_session.check(case)


def test_a_users_kernel_in_inductors_clothes(tmp_path: Path, newest_session: Session) -> None:
    case = locate(str(copy("user_kernel", tmp_path)))
    assert dict(case.constexprs) == {"BLOCK": 128}
    assert case.divisibility() == {"x_ptr": 16, "y_ptr": 16, "n": 16}
    report = newest_session.check(case)
    assert report.diagnosis is not None
    assert report.diagnosis.kind is Kind.UNREACHABLE


def test_blocks_that_were_never_chosen(tmp_path: Path) -> None:
    path = copy("reduction", tmp_path, BEST)
    with pytest.raises(InputError) as caught:
        locate(str(path))
    assert str(caught.value) == (
        f"{path}: triton_red_fused_index_mul_relu_sum_0: its file does not describe all arguments; give "
        "--const XBLOCK=VALUE --const R0_BLOCK=VALUE "
        "(Inductor chooses block sizes when the program runs, for sizes x=8, r0_=512)"
    )


def test_a_graphs_code_and_a_folder(tmp_path: Path) -> None:
    kernel = copy("pointwise", tmp_path, BEST)
    graph = tmp_path / "graph.py"
    texts = {name: (GENERATED / f"{name}.py.txt").read_text() for name in ("pointwise", "user_kernel")}
    strings = "\n".join(
        f"{name} = async_compile.triton('{name}', '''{text}''', device_str='cuda')" for name, text in texts.items()
    )
    graph.write_text(f"import torch\nasync_compile = AsyncCompile()\n{strings}\n")
    names = ["triton_poi_fused__to_copy_2", "bad"]
    assert [case.name for case in locate_all(str(graph)).cases] == names
    found = locate_all(str(tmp_path))
    assert found.notes == (f"{tmp_path}: 2 generated modules with 2 kernels and configurations",)
    assert [case.name for case in found.cases] == names
    assert kernel.exists()


def test_what_died_in_inductors_own_cache(tmp_path: Path) -> None:
    copy("pointwise", tmp_path, BEST)
    copy("user_kernel", tmp_path)
    copy("reduction", tmp_path)
    cache = tmp_path / "triton" / "0"
    for name, ending in (("bad", "ttgir"), ("triton_red_fused_index_mul_relu_sum_0", "ttir")):
        entry = cache / name
        entry.mkdir(parents=True)
        (entry / f"{name}.{ending}").write_text(f"module {{\n  tt.func public @{name}() {{\n")
    found = locate_all(str(tmp_path))
    assert found.notes[0] == (
        f"{tmp_path}: 3 generated modules with 3 kernels and configurations; 2 of their compiles did not end, and "
        "those are taken"
    )
    assert {case.name: case.file for case in found.cases} == {
        "bad": "kernel.py",
        "triton_red_fused_index_mul_relu_sum_0": "triton_red_fused_index_mul_relu_sum_0.ttir",
    }


HINTS = {
    "3.2": "AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0, 2), 'tt.equal_to': ()}, 'cls': 'A'})",
    "3.0": "instance_descriptor(divisible_by_16=(0, 2), equal_to_1=())",
    "3.3": "{(0,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}",
}


@pytest.mark.parametrize("hint", HINTS.values(), ids=HINTS.keys())
def test_divisibility_has_had_three_forms(tmp_path: Path, hint: str) -> None:
    path = copy("pointwise", tmp_path, BEST)
    text = path.read_text()
    begin, end = text.index("{(0,):"), text.index("]]}]}") + 3
    path.write_text(text[:begin] + hint + text[end:])
    assert locate(str(path)).divisibility() == {"in_ptr0": 16, "out_ptr0": 1, "xnumel": 16}


def test_amds_device(tmp_path: Path) -> None:
    path = copy("pointwise", tmp_path, BEST)
    path.write_text(path.read_text().replace("type='cuda'", "type='hip'").replace("cc=90", "cc='gfx942:sramecc+'"))
    case = locate(str(path))
    assert (str(case.target), case.options["debug"]) == ("hip:gfx942", False)


def test_every_configuration_of_a_users_autotuner(tmp_path: Path) -> None:
    path = copy("user_kernel", tmp_path)
    configs = "configs=[{'BLOCK': 64, 'num_warps': 2}, {'kwargs': {'BLOCK': 256}, 'num_warps': 8}],"
    path.write_text(path.read_text().replace("configs=[],", configs))
    found = [(case.constexprs["BLOCK"], case.options["num_warps"]) for case in locate_all(str(path)).cases]
    assert found == [(64, 2), (256, 8)]


BAD = {
    "a device of another sort": ("type='cuda'", "type='xpu'"),
    "no signature": ("'signature': {", "'sig': {"),
    "a type that is none": ("'*fp32'", "'__import__'"),
    "no literal": ("'i32', 'XBLOCK'", "open('x'), 'XBLOCK'"),
    "no Python": ("def triton_poi", "def 0"),
    "nothing for Triton": ("@triton_heuristics.", "@other."),
}


@pytest.mark.parametrize(("old", "new"), BAD.values(), ids=BAD.keys())
def test_a_module_of_another_sort(tmp_path: Path, golden: Golden, old: str, new: str) -> None:
    path = copy("pointwise", tmp_path, BEST)
    text = path.read_text().replace(old, new)
    path.write_text(text if "heuristics" in new or "@other" not in new else text.replace("triton_heuristics.", "x."))
    with pytest.raises(InputError) as caught:
        locate(str(path))
    golden(str(caught.value))
    assert "\n" not in str(caught.value)


def test_nested_too_deep(tmp_path: Path) -> None:
    path = copy("pointwise", tmp_path, BEST)
    path.write_text(path.read_text().replace("filename=__file__", f"filename=a{'.b' * 5000}"))
    with pytest.raises(InputError, match=r"nested too deep|contains no kernel of Inductor"):
        locate(str(path))


def test_nothing_of_it_is_run(tmp_path: Path) -> None:
    path = copy("pointwise", tmp_path, BEST)
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + path.read_text())
    locate(str(path))
    assert not (tmp_path / "ran").exists()


USES = """
    helpers = tl.arange(0, XBLOCK)[:, None] + tl.arange(0, 16)[None, :]
    value = tl.load(in_ptr0 + helpers)
    value = triton_helpers.maximum(triton_helpers.minimum(value, 1.0), triton_helpers.promote_to_tensor(0.0))
    index = triton_helpers.remainder_integer(helpers, -7) + triton_helpers.div_floor_integer(helpers, -7)
    top, at = triton_helpers.max_with_index(value, index, 1)
    low, below = triton_helpers.min_with_index(value, index, 1)
    mean, m2, weight = triton_helpers.welford_reduce(value, value, value, value, True)
    mean, m2, weight = triton_helpers.welford_reduce(value, mean, m2, weight, False)
    mean, m2, weight = triton_helpers.welford(mean, m2, weight, 1)
    sums = triton_helpers.max2(value, 1) + triton_helpers.min2(value, 1) + triton_helpers.prod(value, 1) + top + low
    some = triton_helpers.any(value > 0, 1)
    tl.store(in_ptr0 + tl.arange(0, XBLOCK), tl.where(some, sums + mean + m2 + weight, at + below))
"""


def every_stand_in(folder: Path) -> Path:
    path = copy("pointwise", folder, {**BEST, "XBLOCK": 16})
    head, _, _ = path.read_text().partition("    xoffset = ")
    path.write_text(head + USES)
    return path


def test_every_stand_in_compiles(tmp_path: Path, newest_session: Session) -> None:
    case = locate(str(every_stand_in(tmp_path)))
    text = (case.folder / "inductor_helpers.py").read_text()
    assert {name for name in generated._OWN_HELPERS if f"def {name}(" not in text} == set()
    report = newest_session.check(case)
    assert report.outcome.status is Status.OK, report.diagnosis


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.2.0", "3.3.1", "3.5.1"])
def test_every_stand_in_compiles_on_older_releases(
    tmp_path: Path, release: Callable[[str], Toolchain], version: str
) -> None:
    with Session(Options(suggest=False, cache=False, python=str(release(version).python))) as session:
        report = session.check(locate(str(every_stand_in(tmp_path))))
    assert report.outcome.status is Status.OK, report.diagnosis


TENSORS = ["x=*fp32", "y=*fp32", "out=*fp32"]


def test_helions_report_lacks_types(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give --arg x=TYPE --arg y=TYPE --arg out=TYPE"):
        locate(str(copy("helion_memory", tmp_path)))


def test_helions_report_with_types(tmp_path: Path) -> None:
    found = locate_all(str(copy("helion_memory", tmp_path)), {"arg": TENSORS})
    (case,) = found.cases
    assert found.notes == ("_helion_matmul: Helion's file names no target; compiled for cuda:90, see --target",)
    assert (dict(case.options), case.triton) == ({"num_warps": 4, "num_stages": 8}, "3.6.0")
    assert str(case.origin["error"]).startswith("OutOfResources: out of resource: shared memory, Required: 2097152")


@pytest.mark.slow
def test_helions_report_fails_as_it_says(tmp_path: Path, release: Callable[[str], Toolchain]) -> None:
    case = locate(str(copy("helion_memory", tmp_path)), {"arg": TENSORS})
    with Session(Options(suggest=False, cache=False, python=str(release("3.6.0").python))) as session:
        report = session.check(case)
    assert report.diagnosis is not None
    assert report.diagnosis.kind is Kind.OUT_OF_RESOURCES
    assert report.outcome.over_limit == "shared memory: 2097152 > 232448"


def test_helions_kernel_without_helion(tmp_path: Path, newest_session: Session) -> None:
    report = newest_session.check(locate(str(copy("helion_descriptors", tmp_path)), {"arg": TENSORS}))
    assert report.outcome.status is Status.OK


def test_helions_folder(tmp_path: Path, cli: Triage) -> None:
    for name in ("helion_memory", "helion_descriptors"):
        copy(name, tmp_path)
    found = locate_all(str(tmp_path), {"arg": TENSORS, "target": "cuda:90"})
    assert [case.options["num_stages"] for case in found.cases] == [3, 8]
    broken = tmp_path / "broken.py"
    broken.write_text("# Triton failure report\n# --- Triton source code ---\n# (failed to regenerate Triton code)\n")
    done = cli("check", broken)
    assert done.code == 2
    assert "without a launch that can be read" in done.err


@pytest.mark.parametrize("text", ['MARK = "triton_heuristics."', "# see async_compile.triton(name, source)"])
def test_a_file_that_names_what_inductor_calls_is_no_module_of_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.py"
    file.write_text(f"{text}\n")
    assert not is_generated(file, tmp_path)
