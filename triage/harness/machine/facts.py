"""Everything that ``triage doctor`` shows, as one value."""

import os
import platform
import re
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from triage._version import __version__
from triage.harness.environment import COMPILER
from triage.harness.linker import linkers
from triage.harness.machine.caches import Cache, TritonCache, measure, measure_triton, triton_cache_folder
from triage.harness.machine.clock import Clock, Program
from triage.harness.machine.gpus import Gpu, gpus
from triage.harness.machine.system import Feature, MachineLimits, features, limits
from triage.harness.toolchains import Toolchain, Toolchains, cache_root
from triage.harness.toolchains.installers import find_installer
from triage.harness.toolchains.model import assemblers
from triage.model.compilers import COMPILERS
from triage.model.document import encode
from triage.model.errors import TriageError

# ptxas prints CUDA's version.
_CUDA = re.compile(r"release (\d+\.\d+)")

# Triton compiles its launcher with them.
_HOST_COMPILERS = ("CC", "CXX")
_OURS = "TRITON_TRIAGE_"


@dataclass(frozen=True, slots=True)
class InstalledToolchain:
    """A toolchain with the assemblers that it brings."""

    toolchain: Toolchain
    ptxas: tuple[Program, ...]


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """``installer`` makes managed environments: uv's path, or ``pip``.

    ``default_fault`` says why there is no Triton beside triage, None when there is one.
    """

    triage: str
    python: str
    python_path: str
    system: str
    installer: str
    toolchains: tuple[InstalledToolchain, ...]
    default_fault: str | None
    lld: tuple[Program, ...]
    gpus: tuple[Gpu, ...]
    limits: MachineLimits
    cache: Cache
    triton_cache: TritonCache
    environment: Mapping[str, str]
    features: tuple[Feature, ...]

    def to_json(self) -> Any:
        """The facts as plain values, under the names of the fields."""
        return encode(self, exact=True)


def examine() -> MachineFacts:
    """Look at this machine; never raises, and takes a few seconds at most."""
    clock, cache, toolchains = Clock(), cache_root(), Toolchains()
    default_fault = None
    try:
        toolchains.default()
    except TriageError as error:
        default_fault = str(error)
    return MachineFacts(
        triage=__version__,
        python=platform.python_version(),
        python_path=sys.executable,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        installer=next(iter(find_installer().uv), "pip"),
        toolchains=_with_assemblers(
            [each for compiler in COMPILERS.values() for each in toolchains.installed(compiler)], clock
        ),
        default_fault=default_fault,
        lld=tuple(linkers(clock)),
        gpus=tuple(gpus(clock)),
        limits=limits(cache),
        cache=measure(cache, clock),
        triton_cache=measure_triton(triton_cache_folder(), clock),
        environment=compile_variables(os.environ),
        features=tuple(features()),
    )


def compile_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those variables that can change what a compile does, by name."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if (name.startswith(COMPILER) or name in _HOST_COMPILERS) and not name.startswith(_OURS)
    }


def _with_assemblers(toolchains: list[Toolchain], clock: Clock) -> tuple[InstalledToolchain, ...]:
    # Twenty of them when every release is installed; one after another takes a second from a cold disk.
    with ThreadPoolExecutor(max_workers=8) as pool:
        ptxas = [
            pool.map(partial(clock.program, version=_CUDA), assemblers(toolchain.package)) for toolchain in toolchains
        ]
        return tuple(
            InstalledToolchain(toolchain, tuple(answers)) for toolchain, answers in zip(toolchains, ptxas, strict=True)
        )
