"""The facts of ``triage doctor`` for people."""

from rich.console import Console

from triage.harness.machine.facts import InstalledToolchain, MachineFacts
from triage.model.compilers import COMPILERS, TRITON
from triage.publish.formats.terminal.console import line, section

_GIB = 1 << 30


def machine(console: Console, facts: MachineFacts) -> None:
    """Print every section; an unavailable fact is printed as unknown."""
    line(console, f"triage {facts.triage}, Python {facts.python}, {facts.system}", style="bold")
    for compiler in COMPILERS.values():
        section(console, compiler.title)
        if compiler == TRITON and facts.default_fault:
            _line(console, facts.default_fault, style="yellow")
        installed = [each for each in facts.toolchains if each.toolchain.compiler == compiler]
        for each in installed:
            _toolchain(console, each)
        if not installed:
            _line(console, f"none; {compiler.option} VERSION makes an environment with it")
    _line(console, f"environments are made with {facts.installer}")
    section(console, "Linkers for AMD (Triton 3.0 to 3.4)")
    for linker in facts.lld:
        _line(console, f"{linker.path} {linker.version or ''}".rstrip())
    if not facts.lld:
        _line(console, "no ld.lld: AMD kernels compile up to amdgcn there; install lld or set TRITON_HIP_LLD_PATH")
    section(console, "GPUs")
    for gpu in facts.gpus:
        _line(console, str(gpu.name))
        if gpu.caveat is not None:
            _line(console, gpu.caveat, style="yellow")
    if not facts.gpus:
        _line(console, "none; compiling needs none")
    section(console, "Limits")
    limits = facts.limits
    memory, free = _gib(limits.memory_total_bytes), _gib(limits.memory_available_bytes)
    _line(console, f"cores {limits.cores}, memory {memory}, available {free}")
    _line(console, f"disk free: cache {_gib(limits.cache_free_bytes)}, temporary files {_gib(limits.tmp_free_bytes)}")
    for feature in facts.features:
        if not feature.works:
            _line(console, f"{feature.name} does not work: {feature.why}", style="yellow")
    section(console, "Caches")
    _line(console, f"triage {facts.cache.path} {_gib(facts.cache.size_bytes)}")
    _line(console, f"Triton {facts.triton_cache.path} {_gib(facts.triton_cache.size_bytes)}")
    if facts.environment:
        section(console, "Variables that change compiles")
        for name, value in facts.environment.items():
            _line(console, f"{name}={value}")


def _toolchain(console: Console, installed: InstalledToolchain) -> None:
    toolchain = installed.toolchain
    ptxas = ", ".join(sorted({tool.version for tool in installed.ptxas if tool.version})) or "none"
    # CuTe DSL has ptxas inside a library.
    assemblers = f"ptxas {ptxas:<12} " if toolchain.compiler == TRITON else ""
    origin = "managed" if toolchain.managed else "beside triage"
    _line(console, f"{toolchain.release:<8} Python {toolchain.python_version:<8} {assemblers}{origin}")


def _gib(size: int | float | None) -> str:
    return "unknown" if size is None else f"{size / _GIB:.1f} GiB"


def _line(console: Console, text: str, style: str = "") -> None:
    line(console, f"  {text}", style=style)
