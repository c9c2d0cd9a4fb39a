"""The environment variables of the programs that triage starts: the user's own, without those that would change what
they do."""

import os

# They describe the environment that triage was started from, and would put its packages (or its standard
# library) into another interpreter.
_OF_ANOTHER_PYTHON = ("PYTHONHOME", "PYTHONPATH", "PYTHONEXECUTABLE", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")

# They redirect or pin an installation for the user's own project; a managed environment has its own folder and
# its own pin. Where packages come from (indexes, proxies, certificates, caches) stays the user's choice.
_OF_ANOTHER_INSTALLATION = (
    "PIP_CONSTRAINT", "PIP_DRY_RUN", "PIP_NO_DEPS", "PIP_PREFIX", "PIP_PYTHON", "PIP_ROOT", "PIP_TARGET",
    "UV_CONSTRAINT", "UV_OVERRIDE", "UV_PREFIX", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_TARGET",
)  # fmt: skip

_NOT_PASSED = frozenset(
    {
        # The interpreter mode compiles nothing at all.
        "TRITON_INTERPRET",
        # triage sets these itself, for each run.
        "TRITON_CACHE_DIR", "TRITON_REPRODUCER_PATH", "MLIR_ENABLE_DUMP", "MLIR_DUMP_PATH",
        # They write files into the user's folders or millions of lines into the log.
        "TRITON_KERNEL_DUMP", "TRITON_KERNEL_OVERRIDE", "TRITON_DUMP_DIR", "TRITON_OVERRIDE_DIR",
        "TRITON_ENABLE_LLVM_DEBUG", "TRITON_LLVM_DEBUG_ONLY", "LLVM_IR_ENABLE_DUMP", "NVPTX_ENABLE_DUMP",
        "AMDGCN_ENABLE_DUMP",
        # A remote cache would be used for what is a temporary one.
        "TRITON_CACHE_MANAGER", "TRITON_REMOTE_CACHE_BACKEND",
    }
)  # fmt: skip
COMPILER = (
    "TRITON_", "MLIR_", "LLVM_", "DISABLE_", "PTXAS_", "NVPTX_", "AMDGCN_", "USE_IR_LOC", "USE_TTGIR_LOC",
    "ENABLE_LSR_DEBUG", "ALLOW_LHS_TMEM_LAYOUT_CONVERSION", "STORE_TMEM_TO_GLOBAL_BYPASS_SMEM", "ROCM_PATH", "HIP_PATH",
)  # fmt: skip
"""Beginnings of the names of variables that Triton 3.0 to 3.9 read, in Python and in C++. The list is also in
capture/program/service.py, which imports nothing of triage."""
_CUTE = "CUTE_DSL_"
"""Beginning of the names of CuTe DSL's variables: architecture, what is kept and printed. triage sets these itself."""
_PROCESS = (
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "LD_", "PYTHON", "MALLOC_", "GLIBC_TUNABLES",
)  # fmt: skip
"""What decides how a driver, the loader, Python and the C library behave below the user's module."""
_DECIDES_NOT = ("TRITON_TRIAGE_", "TRITON_HOME")


def interpreter_environment() -> dict[str, str]:
    """The environment of this process without what would change another interpreter's packages."""
    return {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_PYTHON}


def installer_environment() -> dict[str, str]:
    """The environment of uv and pip: with the user's indexes and proxies, without targets and pins."""
    environment = {k: v for k, v in interpreter_environment().items() if k not in _OF_ANOTHER_INSTALLATION}
    # PIP_USER=0 also overrules `user = true` of a pip.conf, which a virtual environment refuses.
    return {**environment, "PIP_USER": "0", "NO_COLOR": "1", "UV_NO_PROGRESS": "1", "LC_ALL": "C.UTF-8"}


def worker_environment(lld: str | None = None) -> dict[str, str]:
    """The environment of a worker. ``lld``: path of an ld.lld, for AMD on releases that link with it (up to 3.4)."""
    environment = {
        name: value
        for name, value in interpreter_environment().items()
        if name not in _NOT_PASSED and not name.startswith(_CUTE)
    }
    # Triton's JIT names the cache entry by hashes of its own; Python's must not vary either between two runs.
    environment.setdefault("PYTHONHASHSEED", "0")
    if lld and "TRITON_HIP_LLD_PATH" not in environment:
        environment["TRITON_HIP_LLD_PATH"] = lld
    return environment


def deciding_variables() -> dict[str, str]:
    """The variables of a worker that may change the result of a compile: part of the key of a stored outcome."""
    return {
        name: value
        for name, value in sorted(worker_environment().items())
        if name.startswith((*COMPILER, *_PROCESS)) and not name.startswith(_DECIDES_NOT)
    }
