"""Times the configurations of ``launches.py`` on this machine's GPU.

    PYTHONPATH=.:tests/benchmarks python -m measured.measure OUT.json [--seconds S] [--most N] [KERNEL…]

Needs torch and a GPU. Every configuration is compiled as its case says, in a process of its own, several at a time;
one process launches and times them, one after the other, while later ones are compiled. A launch that breaks the GPU's
context or takes too long costs that process, and only its configuration. The output of a first launch is compared with
torch's before the time counts. ``OUT.json`` is written anew after each kernel; rows that it has already are kept.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections import deque
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measured.launches import LAUNCHES
from measured.launches.launch import Configuration, Launch

from triage.harness.worker import adapter, tensors
from triage.model import launch_plan

_COMPILERS = max((os.cpu_count() or 2) - 2, 1)
_COMPILE_S = 20.0
"""A compile that takes longer spills thousands of registers."""
_LAUNCH_S = 30.0
"""Of one configuration: first launch, comparison, all timed launches. Creating a kernel's inputs comes on top."""
_INPUTS_S = 60.0
_FLUSH_BYTES = 256 << 20
"""As ``triton.testing.do_bench``: more than the L2 cache holds."""
_TIMED_MS = 15.0
_MOST_LAUNCHES = 50

Row = dict[str, Any]


def constexprs(launch: Launch, configuration: Configuration) -> dict[str, Any]:
    """All of a configuration's constexprs."""
    return dict(launch.case(configuration)["constexprs"])


def compiled(launch: Launch, configuration: Configuration) -> Any:
    """What Triton makes of the configuration, from its cache if it was compiled before. Returns the kernel and the
    names of its arguments in the launcher's order."""
    import triton

    module = importlib.import_module(f"measured.kernels.{Path(launch.file).stem}")
    case = launch.case(configuration)
    source = adapter.make_source(getattr(module, launch.name), case)
    kernel = triton.compile(source, target=adapter.gpu_target("cuda", "90", 32), options=case["options"])
    return kernel, list(source.signature)


def one_line(error: BaseException) -> str:
    """Type and text of an error, without its advice."""
    text = " ".join(str(error).split()).removeprefix("out of resource: ").partition(". Reducing")[0]
    return f"{type(error).__name__}: {text[:140]}"


# ---- compilers


def _compile(launch: Launch, configuration: Configuration, answer: Connection) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        compiled(launch, configuration)
    except BaseException as error:
        answer.send(one_line(error))
    else:
        answer.send("")


def compile_all(work: list[tuple[Launch, int]], answers: Connection) -> None:
    """Compile ``(launch, number of the configuration)``; send ``(name, number, error)`` as each is done."""
    import triton.compiler  # noqa: F401  imported here, once, for all the forks

    fork = multiprocessing.get_context("fork")
    waiting = deque(work)
    running: dict[Connection, tuple[Launch, int, Any, float]] = {}
    while waiting or running:
        while waiting and len(running) < _COMPILERS:
            launch, number = waiting.popleft()
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=_compile, args=(launch, launch.configurations()[number], sender))
            process.start()
            sender.close()
            running[receiver] = launch, number, process, time.monotonic()
        ready = set(wait(list(running), timeout=1.0))
        for receiver, (launch, number, process, since) in list(running.items()):
            if receiver in ready:
                try:
                    error = receiver.recv()
                except EOFError:
                    process.join()
                    error = f"the compiler died: exit code {process.exitcode}"
            elif time.monotonic() - since > _COMPILE_S:
                process.kill()
                error = f"compiles for more than {_COMPILE_S:.0f} s"
            else:
                continue
            process.join()
            del running[receiver]
            answers.send((launch.name, number, error))


# ---- the process with the GPU


class Bench:
    """Inputs and expected outputs of one kernel on the GPU."""

    def __init__(self, launch: Launch) -> None:
        import torch
        from measured.references import REFERENCES

        self.launch, self._torch = launch, torch
        first = constexprs(launch, launch.configurations()[0])
        plan = launch_plan.resolve(launch.inputs(), launch.signature(), first, {})
        inputs = tensors.make(torch, plan.to_message()["tensors"], "cuda")
        self._arguments: dict[str, Any] = {**plan.scalars, **{tensor.name: tensor.stored for tensor in inputs}}
        known = SimpleNamespace(**{**first, **launch.sizes, **self._arguments})
        self.expected = REFERENCES[launch.name](known) if launch.name in REFERENCES else None
        self._flush = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def row(self, configuration: Configuration) -> Row:
        """Launch, compare and time one configuration."""
        kernel, names = compiled(self.launch, configuration)
        values = constexprs(self.launch, configuration)
        plan = launch_plan.resolve(self.launch.inputs(), self.launch.signature(), values, {})
        row: Row = {"shared": kernel.metadata.shared}
        arguments = [self._arguments.get(name) for name in names]
        self._poison()
        try:
            runner = kernel[plan.grid]
            runner(*arguments)
            self._torch.cuda.synchronize()
        except Exception as error:
            return {**row, "error": one_line(error)}
        row |= {"registers": kernel.n_regs, "spills": kernel.n_spills}
        if problem := self._difference():
            return {**row, "error": f"wrong result: {problem}"}
        return {**row, "ms": float(f"{self._time(lambda: runner(*arguments)):.4g}")}

    def _poison(self) -> None:
        for name in self.launch.outputs:
            self._arguments[name].view(self._torch.uint8).fill_(0 if self.launch.accumulates else 0x7F)

    def _difference(self) -> str:
        """Empty if the outputs are as expected; without a reference, the first output is expected of the others."""
        outputs = {name: self._arguments[name] for name in self.launch.outputs}
        if self.expected is None:
            self.expected = {name: output.clone() for name, output in outputs.items()}
        for name, expected in self.expected.items():
            right = expected.double() if expected.dtype is self._torch.int64 else expected.float()
            bound = self.launch.tolerance * float(right.abs().max())
            difference = (outputs[name].to(right.dtype) - right).abs()
            share = float((~(difference <= bound)).float().mean())
            if share > self.launch.stray:
                return f"{name} differs by {float(difference.max()):.3g}, {share:.2%} by more than {bound:.3g}"
        return ""

    def _time(self, launch: Any) -> float:
        """Median in ms between events on the GPU, each launch with a cold L2 cache."""
        once = self._times(launch, 1)[0]
        self._times(launch, max(1, min(20, int(_TIMED_MS / 5 / once))))
        return statistics.median(self._times(launch, max(3, min(_MOST_LAUNCHES, int(_TIMED_MS / once)))))

    def _times(self, launch: Any, count: int) -> list[float]:
        event = self._torch.cuda.Event
        pairs = [(event(enable_timing=True), event(enable_timing=True)) for _ in range(count)]
        for begin, end in pairs:
            self._flush.zero_()
            begin.record()
            launch()
            end.record()
        self._torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]


def time_some(requests: Connection) -> None:
    """Answer names of kernels and numbers of configurations with rows, until there are no more."""
    import torch
    import triton

    torch.cuda.init()
    torch.backends.cuda.matmul.allow_tf32 = False
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    by_name = {launch.name: launch for launch in LAUNCHES}
    bench: Bench | None = None
    while request := requests.recv():
        name, number = request
        try:
            if bench is None or bench.launch.name != name:
                bench = None
                torch.cuda.empty_cache()
                bench = Bench(by_name[name])
                torch.cuda.synchronize()
            requests.send(None)
            row = bench.row(bench.launch.configurations()[number])
        except Exception as error:
            traceback.print_exc()
            row = {"error": one_line(error)}
            if bench is None:
                requests.send(None)
        requests.send(row)
        if "error" in row and "CUDA" in row["error"]:
            return  # the context is lost


class Timer:
    """The process with the GPU, and the next one, which has imported torch already."""

    def __init__(self) -> None:
        self._current, self._spare = self._start(), self._start()

    def row(self, name: str, number: int) -> Row:
        """The row of one configuration; a dead or hanging process is replaced."""
        process, connection = self._current
        try:
            connection.send((name, number))
            for what, limit in (("creating the inputs", _INPUTS_S), ("launches", _LAUNCH_S)):
                if not connection.poll(limit):
                    process.kill()
                    self._replace()
                    return {"error": f"{what}: more than {limit:.0f} s"}
                answer = connection.recv()
        except (EOFError, OSError):
            process.join()
            self._replace()
            return {"error": f"the process died: exit code {process.exitcode}"}
        row: Row = answer
        if "CUDA" in row.get("error", ""):
            self._replace()
        return row

    def close(self) -> None:
        """End the processes."""
        for process, _ in (self._current, self._spare):
            process.kill()

    def _replace(self) -> None:
        self._current, self._spare = self._spare, self._start()

    @staticmethod
    def _start() -> tuple[Any, Connection]:
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=time_some, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return process, ours


# ---- all together


def listed(launch: Launch, configuration: Configuration, row: Row) -> list[Any]:
    """A row as it is stored: values of the configuration, ms, registers, spills, shared bytes, and the error if any."""
    values = [configuration[name] for name in launch.space]
    measured = [row.get(name) for name in ("ms", "registers", "spills", "shared")]
    return [*values, *measured, *([row["error"]] if "error" in row else [])]


def write(document: dict[str, Any], path: Path) -> None:
    """A line for each row."""
    tables = []
    for name, table in document["kernels"].items():
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in table["rows"])
        tables.append(f'"{name}": {{"dimensions": {json.dumps(table["dimensions"])}, "rows": [\n{rows}\n]}}')
    about = "".join(f'"{name}": {json.dumps(text)}, ' for name, text in document.items() if name != "kernels")
    joined = ",\n".join(tables)
    path.write_text(f'{{{about}"kernels": {{\n{joined}\n}}}}\n')


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--most", type=int, help="configurations of each kernel")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    by_name = {launch.name: launch for launch in LAUNCHES}
    launches = [by_name[name] for name in options.kernels] or list(LAUNCHES)
    document: dict[str, Any] = {**_environment(), "kernels": {}}
    if options.out.exists():
        earlier = json.loads(options.out.read_text())
        if {**earlier, "kernels": {}} != document:
            sys.exit(f"{options.out}: of another device or release; give another file")
        document["kernels"] = earlier["kernels"]
    work = {launch.name: _missing(launch, document, options.most) for launch in launches}
    answers, sender = multiprocessing.Pipe(duplex=False)
    in_order = [(launch, number) for launch in launches for number in work[launch.name]]
    compiler = multiprocessing.get_context("fork").Process(target=compile_all, args=(in_order, sender))
    compiler.start()  # ``sender`` stays open here too: the end of the compiles is not the end of the answers
    timer = Timer()
    errors: dict[tuple[str, int], str] = {}
    for launch in launches:
        table = document["kernels"].setdefault(launch.name, {"dimensions": list(launch.space), "rows": []})
        began, before = time.monotonic(), len(table["rows"])
        for number in work[launch.name]:
            while time.monotonic() < until and (answers.poll() or (launch.name, number) not in errors):
                if answers.poll(1.0):
                    name, done, text = answers.recv()
                    errors[name, done] = text
            if time.monotonic() > until:
                break
            error = errors[launch.name, number]
            row = {"error": f"compile: {error}"} if error else timer.row(launch.name, number)
            table["rows"].append(listed(launch, launch.configurations()[number], row))
        write(document, options.out)
        _print(launch, table["rows"], len(table["rows"]) - before, time.monotonic() - began)
    timer.close()
    # Compiles that nobody waits for any more do not keep this process.
    compiler.terminate()
    os._exit(0)


def _missing(launch: Launch, document: dict[str, Any], most: int | None) -> list[int]:
    """Numbers of the configurations that have no row yet."""
    rows = document["kernels"].get(launch.name, {"rows": []})["rows"]
    present = {tuple(row[: len(launch.space)]) for row in rows}
    configurations = launch.configurations()[:most]
    return [i for i, each in enumerate(configurations) if tuple(each[name] for name in launch.space) not in present]


def _environment() -> dict[str, str]:
    code = (
        "import json, torch, triton; device = torch.cuda.get_device_name()\n"
        "print(json.dumps(dict(device=device, triton=triton.__version__, torch=torch.__version__)))"
    )
    return dict(json.loads(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout))


def _print(launch: Launch, rows: list[list[Any]], added: int, seconds: float) -> None:
    times = sorted(row[len(launch.space)] for row in rows if row[len(launch.space)] is not None)
    shown = f"best {times[0]}, median {times[len(times) // 2]}, worst {times[-1]}" if times else "none"
    print(f"{launch.name}: {len(rows)} rows, {added} new, {len(times)} run, {shown}, {seconds:.0f} s", flush=True)
    for row in [row for row in rows if isinstance(row[-1], str) and ("wrong" in row[-1] or "CUDA" in row[-1])][:4]:
        print("   ", row, flush=True)


if __name__ == "__main__":
    main()
