"""Compiles stored cases as a program would, each in a process of its own: compile_cases.py WORKER_FOLDER CASE_FOLDER…

Prints a line for each: its folder, its process, and how that ended. ALARM in the environment is how long one may take.
"""

import importlib
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path


def worker_package(folder):
    """The modules with which triage's own workers make an ASTSource of a case on any release."""
    spec = importlib.util.spec_from_file_location(
        "worker", str(Path(folder) / "__init__.py"), submodule_search_locations=[folder]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["worker"] = module
    spec.loader.exec_module(module)


def compile_case(folder):
    import triton

    adapter, load = importlib.import_module("worker.adapter"), importlib.import_module("worker.load")
    case = {"constexprs": {}, "options": {}, **json.loads((Path(folder) / "case.json").read_text())}
    backend, _, arch = case["target"].partition(":")
    target = adapter.gpu_target(backend, arch, 64 if arch.startswith("gfx9") else 32)
    adapter.set_driver(target, {})
    module, _ = load.load_module(Path(folder) / case["kernel"]["file"])
    kernel = load.find_kernel(module, case["kernel"]["name"])
    pointers = {name: 16 for name, type_ in case["signature"].items() if type_.startswith("*")}
    case["divisible"] = {**pointers, **case.get("divisible", {})}
    source = adapter.make_source(kernel, case)
    triton.compile(source, target=target, options=case["options"])


def main(worker, *folders):
    worker_package(worker)
    for folder in folders:
        child = os.fork()
        if child == 0:
            signal.alarm(int(os.environ.get("ALARM", "60")))
            try:
                compile_case(folder)
                os._exit(0)
            except BaseException as error:
                print(type(error).__name__, str(error)[:200], flush=True)
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        print("case", folder, child, status, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
