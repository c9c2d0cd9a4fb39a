"""Lists of tuned configurations: read, compiled, and written back with replacements for what fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import DATA, Run, call_triage

from triage.cases.locate import locate
from triage.cli.sweep_space import tuned
from triage.model.errors import InputError
from triage.model.target import Target
from triage.sweeps.commands import SweepCommands
from triage.sweeps.grid import SweepAxis
from triage.sweeps.lists.cases import ListedKernel, read_list
from triage.sweeps.lists.entries import TunedFile, read_tuned
from triage.sweeps.lists.moe import MoeTable

OK = str(DATA / "ok.json")
H100 = "E=8,N=14336,device_name=NVIDIA_H100_80GB_HBM3"
MOE = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 256, "GROUP_SIZE_M": 8, "num_warps": 4, "num_stages": 3}


def read(tmp_path: Path, text: str) -> TunedFile:
    (tmp_path / "table.json").write_text(text)
    (file,) = read_tuned(tmp_path)
    return file


def test_entries_at_any_depth_and_nothing_else_changes(tmp_path: Path) -> None:
    text = '{"triton_version": "3.5.0", "a \\"1\\"": {"64": {"BM":  16, "x": -1.5e3, "num_warps": 4}}'
    text += ',\n\t"b": [{"BM": 32}]}'
    file = read(tmp_path, text)
    assert [(entry.path, dict(entry.values)) for entry in file.entries] == [
        (('a "1"', "64"), {"BM": 16, "x": -1500.0, "num_warps": 4}),
        (("b", "0"), {"BM": 32}),
    ]
    assert file.with_values({}) == text
    assert file.lines == {('a "1"', "64"): 1, ("b", "0"): 2}
    changed = file.with_values({('a "1"', "64"): {"num_warps": 8}, ("b", "0"): {"BM": 64}})
    assert changed == text.replace('"num_warps": 4', '"num_warps": 8').replace('"BM": 32', '"BM": 64')
    with pytest.raises(KeyError):
        file.with_values({("b", "0"): {"num_warps": 8}})


def test_kwargs_are_of_the_entry(tmp_path: Path) -> None:
    """As in Triton's cache of its autotuner, and in the tables of flash-linear-attention."""
    text = (
        '{"key": [64, 1], "default_config": {"kwargs": {"BD": 64}, "num_warps": 2, "maxnreg": null, "pre_hook": null}}'
    )
    file = read(tmp_path, text)
    assert [(entry.path, dict(entry.values)) for entry in file.entries] == [
        (("default_config",), {"num_warps": 2, "BD": 64})
    ]
    changed = file.with_values({("default_config",): {"num_warps": 4, "BD": 32}})
    assert changed == text.replace('"BD": 64', '"BD": 32').replace('"num_warps": 2', '"num_warps": 4')


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (f"{H100}.json", "cuda:90"),
        ("sub/N=512,K=64,device_name=NVIDIA_A100-SXM4-80GB,dtype=fp8_w8a8,block_shape=[128, 128].json", "cuda:80"),
        ("{K=512,N=2048,block_size=[128,128],out_dtype=torch.bfloat16}_NVIDIA_H800.json", "cuda:90"),
        ("triton_3.4.0/NVIDIA_H200/moe_sum_reduce:v1/{hidden_dim=64,topk_num=8}_NVIDIA_H200.json", "cuda:90"),
        ("{K=512}_Some_Other_Chip.json", "cuda:86"),
        ("RTX.json", "cuda:86"),
    ],
)
def test_the_gpu_in_a_name_is_the_target(tmp_path: Path, name: str, target: str) -> None:
    """That of the kernel where the name says none: cuda:86."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(json.dumps({"1": {"BLOCK_M": 64, "num_warps": 4}}))
    kernel = ListedKernel("shared-memory-sm86", locate("shared-memory-sm86", {}))
    (listed,) = read_list(tmp_path, kernel, []).entries
    assert list(listed.cases) == [target]


@pytest.mark.parametrize(
    ("text", "message"),
    [("[1, 2]", "no configurations in it"), ("{", "is not JSON"), ("[" * 100_000, "is not JSON")],
)
def test_what_is_no_list(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "table", "target"),
    [
        (f"{H100}.json", ("", None), "cuda:90"),
        (f"sub/{H100},dtype=fp8_w8a8,block_shape=[128, 128]_down.json", ("fp8_w8a8", (128, 128)), "cuda:90"),
        ("E=1,N=2,device_name=AMD_Instinct_MI300X,dtype=int8_w8a16.json", ("int8_w8a16", None), "hip:gfx942"),
        ("E=1,N=2,device_name=Some_Other_Chip.json", ("", None), None),
    ],
)
def test_what_the_name_of_a_fused_moe_table_says(
    name: str, table: tuple[str, tuple[int, int] | None], target: str | None
) -> None:
    named = MoeTable.named(name)
    assert named is not None
    assert (named.dtype, named.block) == table
    assert named.target == (target and Target.parse(target))


def test_a_step_is_at_most_a_block_of_scales_and_fp8_is_that_of_the_target(tmp_path: Path) -> None:
    (tmp_path / f"{H100},dtype=fp8_w8a8,block_shape=[128,128].json").write_text(json.dumps({"1": MOE, "2": MOE}))
    targets = ("cuda:90", "hip:gfx942")
    listed = read_list(tmp_path, None, [Target.parse(target) for target in targets])
    assert {case.constexprs["BLOCK_SIZE_K"] for case in listed.cases} == {128}
    assert [case.signature["a_ptr"] for case in listed.cases] == ["*fp8e4nv", "*fp8e4b8"]
    space = listed.space([SweepAxis("target", targets)])
    assert [str(space.case(cell).target) for cell in range(space.grid.size) if space.grid.allowed >> cell & 1] == [
        *targets
    ], "each is compiled for the targets that it is for"


@pytest.mark.parametrize(
    ("name", "message"),
    [("table.json", "add --kernel"), ("E=1,N=2,device_name=Some_Other_Chip.json", "add --target")],
)
def test_a_list_of_which_something_is_not_known(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).write_text(json.dumps({"1": MOE}))
    with pytest.raises(InputError, match=message):
        read_list(tmp_path, None, [])


@pytest.fixture
def sweep(cache: Path) -> Callable[..., Run]:
    return lambda *arguments, **named: call_triage(cache, "sweep", *arguments, **named)


@pytest.mark.parametrize(
    ("kernel", "option"),
    [
        (("--kernel", OK), ("--set", "BLOCK=64")),
        (("--kernel", OK), ("--where", "BLOCK > 1")),
        ((), ("--num-warps", "2")),
    ],
)
def test_what_a_list_has_no_use_for_is_an_error(
    sweep: Callable[..., Run], tmp_path: Path, kernel: tuple[str, ...], option: tuple[str, str]
) -> None:
    (tmp_path / f"{H100}.json").write_text(json.dumps({"1": TABLE["1"] if kernel else MOE}))
    run = sweep(str(tmp_path), *kernel, *option)
    assert (run.code, run.err.partition(" is a list")[0]) == (2, f"triage: {option[0]}: {tmp_path}")


def test_what_fails_is_replaced_and_the_rest_stays(
    sweep: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = '{\n "1": {"BLOCK": 64, "num_warps": 1},\n "2": {"BLOCK": 96, "num_warps": 2}\n}'
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "RTX.json").write_text(text)
    fixed = tmp_path / "fixed"
    sarif, junit = tmp_path / "s.json", tmp_path / "j.xml"
    outputs = ("--write-fixed", str(fixed), "--sarif", str(sarif), "--junit", str(junit))
    run = sweep(str(folder), "--kernel", OK, *outputs, "--json")
    assert run.code == 1, run.err
    document = run.document
    (replaced,) = document["replacements"]
    assert (replaced["file"], replaced["entry"], replaced["target"]) == ("RTX.json", "2", "cuda:90")
    was, now = json.loads(text), json.loads((fixed / "RTX.json").read_text())
    assert now == {**was, "2": {**was["2"], **replaced["changes"]}}
    (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "tables/RTX.json"
    assert location["physicalLocation"]["region"] == {"startLine": 3}, "that of the entry"
    assert "Compiles instead: BLOCK=" in result["message"]["text"]
    assert [case.get("name") for case in ElementTree.parse(junit).iter("testcase")] == ["RTX.json: 1", "RTX.json: 2"]
    again = sweep(str(fixed), "--kernel", OK)
    assert again.code == 0, again.out


def test_tables_of_two_gpus_are_compiled_for_both(tmp_path: Path) -> None:
    for gpu in ("NVIDIA_H100_80GB_HBM3", "NVIDIA_GeForce_RTX_4090"):
        (tmp_path / f"E=8,N=14336,device_name={gpu}.json").write_text(json.dumps({"1": MOE}))
    asked = {"targets": (), "tritons": ("3.9.0",), "cutes": (), "python": None}
    space = tuned(read_list(tmp_path, None, []), asked).space
    assert {str(space.case(cell).target) for cell in range(space.grid.size)} == {"cuda:90", "cuda:89"}
    one = tuned(read_list(tmp_path, None, [Target.parse("cuda:80")]), {**asked, "targets": ("cuda:80",)})
    words = SweepCommands(one.check, (), one.members).of_cell(one.space.case(0), one.space.grid, 0)
    assert words.startswith("triage check --triton 3.9.0 fused-moe-")
    assert words.endswith("--target cuda:80")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{folder}", "--kernel", OK, "--write-fixed", "{folder}"), "that is the list itself; name another folder"),
        (("{folder}", "--kernel", OK, "--write-fixed", "{folder}/table.json"), "a file is in its way"),
        (("shared-memory-sm86", "--set", "BLOCK_M=16,32", "--write-fixed", "x"), "are for a list"),
        (("{folder}",), "add --kernel"),
        (("{folder}", "--kernel", "shared-memory-sm86", "--budget", "1"), "every configuration of a list is compiled"),
        (("{folder}", "--kernel", "nowhere.py::k"), "nowhere.py"),
    ],
)
def test_bad_input(sweep: Callable[..., Run], tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "table.json").write_text(json.dumps({"1": {"BLOCK_M": 16, "num_warps": 4}}))
    run = sweep(*(word.format(folder=tmp_path) for word in arguments))
    assert (run.code, message in run.err, len(run.err.splitlines())) == (2, True, 1), run.err


def test_the_kernel_of_a_list_is_drafted(sweep: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "H100.json").write_text(json.dumps({"1": {"BLOCK": 64, "num_warps": 1}}))
    run = sweep(str(tmp_path), "--kernel", f"{DATA / 'kernels.py'}::add", "--target", "cuda:90")
    assert (run.code, "drafted, as not stated: x_ptr=" in run.err) == (0, True), run.err
    assert "n: taken as multiples of 16, as most are; otherwise add --divisible n=1" in run.err
    assert run.out.startswith("add: the configuration compiles")


TABLE = {"1": {"BLOCK": 64, "num_warps": 1}, "2": {"BLOCK": 96, "num_warps": 2}}


def test_a_list_goes_on_and_is_merged_with_its_replacements(sweep: Callable[..., Run], tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    (tables / "sub").mkdir(parents=True)
    (tables / "RTX.json").write_text(json.dumps(TABLE))
    (tables / "sub" / "index.json").write_text('{"version": "1.0"}')
    (tables / "good.json").write_text(json.dumps({"1": TABLE["1"]}))
    parts = [tmp_path / "part-1", tmp_path / "part-2"]
    for number, part in enumerate(parts, start=1):
        run = sweep(str(tables), "--kernel", OK, "--shard", f"{number}/2", "-o", str(part))
        assert run.code in (0, 1), run.err
    (tables / "RTX.json").write_text("{}")
    merged = sweep("merge", *map(str, parts), "-o", str(tmp_path / "all"), "--write-fixed", str(tmp_path / "a"))
    resumed = sweep("--resume", str(tmp_path / "all"), "--write-fixed", str(tmp_path / "b"), "--json")
    assert (merged.code, resumed.code) == (1, 1), merged.err + resumed.err
    (replaced,) = resumed.document["replacements"]
    assert "RTX.json" in (tmp_path / "all" / "map.html").read_text(), "the page has what the document has"
    for fixed in (tmp_path / "a", tmp_path / "b"):
        assert sorted(str(path.relative_to(fixed)) for path in fixed.rglob("*.json")) == [
            "RTX.json", "good.json", "sub/index.json",
        ]  # fmt: skip
        assert json.loads((fixed / "RTX.json").read_text())["2"] == {**TABLE["2"], **replaced["changes"]}
        assert (fixed / "sub" / "index.json").read_text() == '{"version": "1.0"}'
