"""Compiles a case with the interpreter that runs this, as a program of a user's would: nothing isolated or caught."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
harness, folder = sys.argv[1], Path(sys.argv[2])
sys.path.insert(0, harness)
sys.path.insert(0, str(folder))
sys.path.append(str(Path(__file__).parents[2] / "capture/programs"))

import kernel as module  # noqa: E402
import toolbox  # noqa: E402
import triton  # noqa: E402
from worker import adapter  # noqa: E402

case = json.loads((folder / "case.json").read_text())
pointers = {name: 16 for name, type_ in case["signature"].items() if type_.startswith("*")}
wanted = {**case, "divisible": {**pointers, **case.get("divisible", {})}}
backend, _, arch = case["target"].partition(":")
target = adapter.gpu_target(backend, arch, 64 if arch.startswith("gfx9") else 32)
toolbox.share_key()
kernel = getattr(module, case["kernel"]["name"])
triton.compile(adapter.make_source(kernel, wanted), target=target, options=case["options"])
