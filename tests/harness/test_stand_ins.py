"""Stand-ins for host packages: what they answer, and that they decide nothing in silence."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import kernel_cases
import pytest

from triage.harness.description import KernelDescription, described
from triage.harness.engine import Engine
from triage.harness.request import Attempt, DescribeKernel, FullCompile, Request
from triage.harness.servers import WORKER
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Status, Undecided

HEADER = "import torch, triton\nimport triage_absent as absent\nimport triton.language as tl\n"
KERNEL = "\n@triton.jit\ndef kernel(x_ptr, n):\n    tl.store(x_ptr, n)\n"
Answer = Callable[..., Attempt]


def as_slice(case: Case) -> Case:
    return replace(case, slice=case.location)


@pytest.fixture
def imported(shared_engine: Engine, release: Callable[[str], Toolchain], tmp_path: Path) -> Answer:
    """The answer of a module with that text, which is imported and described, but not compiled."""

    def imported(text: str, sliced: bool = True) -> Attempt:
        (tmp_path / "ops").mkdir()
        module = tmp_path / "ops" / "module.py"
        module.write_text(text)
        case = kernel_cases.case(module, "kernel", {})
        case = as_slice(case) if sliced else case
        (attempt,) = shared_engine.run(
            [Request(case, release("newest"), action=DescribeKernel(tmp_path / "described.json"))]
        )
        return attempt

    return imported


def reason(attempt: Attempt) -> str:
    assert isinstance(attempt.result, Undecided), attempt.result
    assert not attempt.result.input_error
    return attempt.result.reason


@pytest.mark.parametrize(
    ("version", "target"),
    [
        ("newest", "hip:gfx942"),
        pytest.param("3.2", "cuda:90", marks=pytest.mark.slow),
        pytest.param("newest", "cuda:90", marks=pytest.mark.slow),
        pytest.param("3.2", "hip:gfx942", marks=pytest.mark.slow),
        *(
            pytest.param(f"3.{minor}", target, marks=pytest.mark.slow)
            for minor in range(9)
            if minor != 2
            for target in ("cuda:90", "hip:gfx942")
        ),
    ],
)
def test_host_code_sees_the_target(
    shared_engine: Engine, release: Callable[[str], Toolchain], tmp_path: Path, version: str, target: str
) -> None:
    case = as_slice(kernel_cases.case("host_code.py", "kernel", {}, target))
    action = DescribeKernel(tmp_path / "described.json", {"x_ptr": {"pointer": "bf16"}, "n": 7})
    (attempt,) = shared_engine.run([Request(case, release(version), action=action)])
    found = described(attempt)
    assert isinstance(found, KernelDescription), found
    (configuration,) = found.configurations
    assert configuration.heuristics == {"HALF": True, "WIDTH": 2, "IS_TENSOR": True}
    unknown = configuration.unknown
    assert unknown["WIDE"] == "it needs x_ptr.numel, which is not known"
    assert "asks for `triage_absent.layers.fused.tiles(…) > 2`, and triage_absent is not" in unknown["TILED"]


def test_a_compile_names_its_stand_ins(shared_engine: Engine, release: Callable[[str], Toolchain]) -> None:
    constexprs = dict.fromkeys(("HALF", "WIDTH", "IS_TENSOR", "WIDE", "TILED"), True)
    case = kernel_cases.case("host_code.py", "kernel", {"x_ptr": "*fp32", "n": "i32"})
    case = as_slice(replace(case, constexprs=frozen(constexprs)))
    (attempt,) = shared_engine.run([Request(case, release("3.2"), action=FullCompile(use_cache=False))])
    assert isinstance(attempt.result, Outcome), attempt.result
    assert attempt.result.status is Status.OK
    assert attempt.result.notes == ("the kernel's module was imported with stand-ins for torch 2.6.0, triage_absent",)


DECISIONS = {
    "if absent.FLAG: pass": "bool(triage_absent.FLAG)",
    "absent.parse('1') >= absent.parse('2')": "triage_absent.parse(…) >= triage_absent.parse(…)",
    "assert 3 < absent.count": "triage_absent.count > 3",
    "absent.x == 'cuda'": "triage_absent.x == 'cuda'",
    "absent.x != 1": "triage_absent.x == 1",
    "2 in absent.sizes": "triage_absent.sizes contains 2",
    "for size in absent.sizes: pass": "iter(triage_absent.sizes)",
    "first, second = absent.pair()": "iter(triage_absent.pair(…))",
    "len(absent.sizes)": "len(triage_absent.sizes)",
    "range(absent.count * 2)": "int(triage_absent.count * 2)",
    "min(4, absent.cpu_count())": "triage_absent.cpu_count(…) < 4",
    "import math; math.log2(1 / absent.count)": "float(1 / triage_absent.count)",
    "int(absent.__version__.split('.')[0])": "int(triage_absent.__version__.split(…)[…])",
    "isinstance(absent.x, str)": "isinstance(triage_absent.x, …)",
    "isinstance(1, absent.Kind)": "isinstance(…, triage_absent.Kind)",
    "issubclass(int, absent.Kind)": "issubclass(…, triage_absent.Kind)",
    "hasattr(absent, 'fast')": "hasattr(triage_absent, 'fast')",
    "getattr(absent, 'fast', None)": "hasattr(triage_absent, 'fast')",
    "absent.fast\nhasattr(absent, 'fast')": "hasattr(triage_absent, 'fast')",
    "{1: 2}.get(absent.key())": "hash(triage_absent.key(…))",
    "import inspect; 'fast' in inspect.signature(absent.f).parameters": "signature(triage_absent.f)",
    "from triage_absent import *": "from triage_absent import *",
    "try:\n    1 / 0\nexcept absent.Error: pass": None,
    "int(f'{absent.count}')": None,
    "open(absent.file)": None,
    "class A(absent.Base): pass\nif A.supported: pass": "bool(triage_absent.Base.supported)",
    "torch.cuda.mem_get_info()[0] > 1 << 30": "torch.cuda.mem_get_info(…)[…] > 1073741824",
    "hasattr(torch, 'not_looked_up')": "hasattr(torch, 'not_looked_up')",
    "torch.empty(1).dtype == torch.float16": "torch.empty(…).dtype == …",
    "try:\n    if absent.FLAG: x = 1\nexcept: pass": "bool(triage_absent.FLAG)",
}


UNDECIDED = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("worker", sys.argv[1] + "/__main__.py")
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
worker._load_package()
causes, imports, placeholders = map(worker._module, ("causes", "imports", "placeholders"))
imports.set_target({"backend": "cuda", "arch": "90", "warp_size": 32}, {}, "2.9.0")
answers = []
with imports.stand_ins(True, {}):
    for text in json.load(sys.stdin):
        try:
            exec(compile(text, "/somewhere/module.py", "exec"), {})
            placeholders.check()
            answers.append(None)
        except BaseException as error:
            answers.append(causes.of(error))
        placeholders.refusals.clear()
        placeholders._parts.clear()
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def undecided(release: Callable[[str], Toolchain]) -> dict[str, str | None]:
    """Why a module with each of the texts is not judged."""
    texts = [HEADER + text for text in (*DECISIONS, *ACCEPTED)]
    done = subprocess.run(
        [str(release("newest").python), "-c", UNDECIDED, str(WORKER)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip((*DECISIONS, *ACCEPTED), json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("text", DECISIONS)
def test_nothing_is_decided(undecided: dict[str, str | None], text: str) -> None:
    question, found = DECISIONS[text], undecided[text]
    assert found is not None
    assert "\n" not in found
    assert "module.py:" in found
    assert "triage_absent" in found or "torch" in found
    if question is not None:
        lines = [number for number, line in enumerate(text.splitlines(), 4) if not line.startswith("except")]
        assert found.startswith(f"module.py:{lines[-1]} asks for `{question}`, and ")
        assert ("torch" in question) == ("that depends on the program" in found)
        assert ("torch" in question) != ("is not installed beside this Triton; install it there" in found)


ACCEPTED = [
    "name = 'a' + absent.name",
    "limit = absent.limit * 2 // -absent.step",
    "absent.registry['x'] = absent.logger.info(f'{absent.name}')",
    "with absent.lock as lock: pass",
    "from typing import Any, Callable, Optional, Union\nX = Callable[[absent.A], Optional[Union[absent.B, Any]]]",
    "X = {absent.a: 1, absent.b: 2}; assert X[absent.a] == 1 and absent.c not in X",
    "assert absent.x is not None and absent.x is absent.x",
    "import functools\n@absent.register\n@functools.wraps(absent.f)\ndef f(): return 1\nassert f() == 1",
    "import dataclasses\n@dataclasses.dataclass\nclass A(absent.Base):\n    x: absent.T = absent.DEFAULT\nA(absent.y)",
    "import enum\nclass E(enum.Enum):\n    A = absent.A\n    B = absent.B",
    "import copy, logging\ncopy.deepcopy({'a': absent.x}); logging.getLogger('a').debug('%s', absent.x)",
    "@triton.jit\ndef kernel(x_ptr, n: absent.Int = absent.ONE): pass\nkernel.cache_key",
    "if hasattr(torch, 'npu'): raise SystemExit",
    "class A:\n    @property\n    def x(self): return absent.x\nassert hasattr(A(), 'x')",
    "assert tuple(map(int, torch.version.cuda.split('.'))) >= (12, 8)",
    "import numpy as np\nassert int(np.log2(64)) == 6 and 1 / np.log(2) > np.sqrt(2) and np.float32 is np.float32",
    "class A(torch.autograd.Function): pass\nf = A.apply",
    "import abc\nclass A(torch.nn.Module, abc.ABC): pass\nassert isinstance(A(), A)",
]  # fmt: skip


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_decides_nothing_is_accepted(undecided: dict[str, str | None], text: str) -> None:
    assert undecided[text] is None


def test_a_swallowed_decision_counts(imported: Answer) -> None:
    found = reason(imported(HEADER + "try:\n    if absent.FLAG: x = 1\nexcept: pass" + KERNEL))
    assert found == (
        "module.py:5 asks for `bool(triage_absent.FLAG)`, and triage_absent is not installed beside this Triton; "
        "install it there, or use --python PATH with an environment that has it"
    )


def test_a_case_folder_gets_stand_ins_of_a_list_only(imported: Answer) -> None:
    attempt = imported("import cupy as cp\nimport triage_absent\n" + HEADER + KERNEL, sliced=False)
    assert reason(attempt).startswith("module.py imports triage_absent, which this environment does not have; install")


def test_a_case_folder_decides_nothing_either(imported: Answer) -> None:
    found = reason(imported("import cupy as cp\nimport triton\nif cp.bool_(0): pass\n" + KERNEL, sliced=False))
    assert found.startswith("module.py:3 asks for `bool(cupy.bool_(…))`, and cupy is not installed beside this Tri")


FRONT_END = {
    "tl.store(x_ptr, absent.LIMIT)": "triage_absent.LIMIT",
    "tl.store(x_ptr, LIMIT)": "triage_absent.LIMIT",
    "helper(x_ptr)": "triage_absent.helper",
    "if LIMIT == 3: tl.store(x_ptr, n)": "triage_absent.LIMIT",
    "tl.store(x_ptr, tl.load(x_ptr).to(absent.dtype))": "triage_absent.dtype",
}


@pytest.mark.parametrize("line", FRONT_END)
@pytest.mark.parametrize("version", ["newest", pytest.param("3.0", marks=pytest.mark.slow)])
def test_a_kernel_that_reads_a_stand_in_is_not_judged(
    shared_engine: Engine, release: Callable[[str], Toolchain], tmp_path: Path, line: str, version: str
) -> None:
    module = tmp_path / "module.py"
    module.write_text(HEADER + "from triage_absent import helper, LIMIT\n" + KERNEL + f"    {line}\n")
    case = as_slice(kernel_cases.case(module, "kernel", {"x_ptr": "*fp32", "n": "i32"}))
    (attempt,) = shared_engine.run([Request(case, release(version))])
    found = reason(attempt)
    assert FRONT_END[line] in found
    assert "triage_absent is not installed beside this Triton" in found


def test_a_stand_in_is_no_kernel(imported: Answer) -> None:
    found = reason(imported(HEADER + "kernel = absent.kernels.make(BLOCK=64)\n"))
    assert found.startswith("kernel is `triage_absent.kernels.make(…)`, and triage_absent is not installed beside this")


def test_errors_of_the_kernel_stay_its_own(
    shared_engine: Engine, release: Callable[[str], Toolchain], tmp_path: Path
) -> None:
    module = tmp_path / "module.py"
    module.write_text(HEADER + "from triage_absent import helper\n" + KERNEL + "    tl.no_such_function(x_ptr)\n")
    case = as_slice(kernel_cases.case(module, "kernel", {"x_ptr": "*fp32", "n": "i32"}))
    (attempt,) = shared_engine.run([Request(case, release("newest"))])
    assert isinstance(attempt.result, Outcome), attempt.result
    assert attempt.result.status is Status.ERROR
    assert "no_such_function" in attempt.result.errors[-1].message


def test_an_import_may_fail_where_the_code_can_do_without(imported: Answer) -> None:
    text = (
        "from contextlib import suppress\n"
        "with suppress(ImportError):\n    import triage_absent\n    raise SystemExit\n"
        "try:\n    import triage_other\nexcept (ImportError, OSError):\n    triage_other = None\n"
        "try:\n    from triage_third import part\nexcept ImportError as error:\n    raise RuntimeError('install it')\n"
        "assert triage_other is None\nimport triton, triton.language as tl\n"
    )
    attempt = imported(text + KERNEL)
    assert isinstance(attempt.result, Outcome), attempt.result
    assert attempt.result.notes == ("the kernel's module was imported with stand-ins for triage_third",)


def test_what_fails_without_a_package_is_not_the_modules_failure(imported: Answer) -> None:
    found = reason(
        imported("try:\n    import triage_absent as a\nexcept ImportError:\n    a = None\nx = a.pi\n" + KERNEL)
    )
    assert found.startswith(
        "module.py:5: 'NoneType' object has no attribute 'pi'; triage_absent is not installed there"
    )


def test_an_installed_package_that_needs_a_real_torch(imported: Answer, tmp_path: Path) -> None:
    """Its own decisions are no one's here; what it does not decide can be used."""
    site = tmp_path / "site-packages"
    for name, text in {
        "triage_fine": "import torch\nSIZES = [1, 2]\n",
        "triage_deep": "import torch\nif torch.rand(1) > 0: pass\n",
        "triage_deeper": "import torch\nassert torch._C.some_build\n",
    }.items():
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text(text)
    text = (
        f"import sys; sys.path.append({str(site)!r})\n" + HEADER + "import triage_fine, triage_deep\n"
        "try:\n    import triage_deeper\n    raise SystemExit\nexcept ImportError:\n    pass\n"
        "assert triage_fine.SIZES == [1, 2]\nx = triage_deep.anything\n"
    )
    attempt = imported(text + KERNEL)
    assert isinstance(attempt.result, Outcome), attempt.result
    (note,) = attempt.result.notes
    assert note.startswith("the kernel's module was imported with stand-ins for torch ")
    assert note.endswith(", triage_absent, triage_deep")


CHECKED = """
import importlib, importlib.util, sys
folder = sys.argv[1]
spec = importlib.util.spec_from_file_location("w", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["w"] = importlib.util.module_from_spec(spec)
facts = importlib.import_module("w.torch_facts")
table = facts.facts({"backend": "cuda", "arch": "90", "warp_size": 32}, {}, "2.99.0")
import torch
for name, fact in table.items():
    holder = torch
    for part in name.split(".")[1:]:
        absent = fact is facts.ABSENT
        if absent != (not hasattr(holder, part)):
            print(name, "exists" if absent else "does not exist")
            break
        holder = getattr(holder, part, None)
    else:
        if isinstance(fact, facts.dtype):
            own = [getattr(fact, n) for n in ("itemsize", "is_floating_point", "is_complex")]
            if own != [getattr(holder, n) for n in ("itemsize", "is_floating_point", "is_complex")]:
                print(name, own)
            if not name.startswith(("torch.q", "torch.bit")) and fact.is_signed != holder.is_signed:
                print(name, "signed", fact.is_signed)
            if repr(fact) != repr(holder):
                print(repr(fact), repr(holder))
for kind, limits, names in (("finfo", facts.FInfo, ("max", "min", "eps", "tiny", "smallest_normal", "resolution")),
                            ("iinfo", facts.IInfo, ("max", "min"))):
    for fact in [fact for fact in table.values() if isinstance(fact, facts.dtype)]:
        try:
            own = limits(fact)
        except TypeError:
            continue
        real = getattr(torch, kind)(getattr(torch, repr(fact)[6:]))
        for name in (*names, "bits", "dtype"):
            if getattr(own, name) != getattr(real, name):
                print(kind, fact, name, getattr(own, name), getattr(real, name))
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compared with torch")
def test_facts_agree_with_torch() -> None:
    done = subprocess.run([sys.executable, "-c", CHECKED, str(WORKER)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
