"""All differences between Triton releases that affect a compile, detected by probing.

ASTSource takes ``constants`` and an AttrsDescriptor up to 3.2 (signature without the constexprs), ``constexprs`` and
an attribute table from 3.3 on (signature lists every argument, constexprs as "constexpr").
"""

import inspect
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from . import values


class BadCase(Exception):
    """The case does not fit the kernel: an argument is missing, unknown or of the wrong kind."""


def gpu_target(backend: str, arch: str, warp_size: int) -> Any:
    """Triton's GPUTarget: an integer arch on CUDA, the gfx name on HIP."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(backend, int(arch) if backend == "cuda" else arch, warp_size)


def _key_holder() -> Any:
    from triton.compiler import compiler
    from triton.runtime import cache

    return compiler if hasattr(compiler, "triton_key") else cache  # moved in 3.5


def triton_key() -> Optional[str]:
    """Triton's hash of itself, part of every cache entry's name. It reads 500 MB for that, which takes 0.5 s."""
    holder = _key_holder()
    return str(holder.triton_key()) if hasattr(holder, "triton_key") else None


def set_triton_key(key: str) -> None:
    """What :func:`triton_key` gave another process of the same installation (as Triton's own worker pools do)."""
    holder = _key_holder()
    if hasattr(holder, "triton_key"):
        holder.triton_key = lambda: key


def capability(backend: str, arch: str) -> Tuple[int, int]:
    """(major, minor); for AMD as torch reports it: gfx942 is (9, 4) and gfx1100 (11, 0)."""
    digits = arch if backend == "cuda" else arch[3:-1]
    return int(digits[:-1]), int(digits[-1], 16)


class StubDriver:
    """Replaces the GPU driver: kernels' modules and Gluon on 3.4 query it for the target; nothing is launched."""

    def __init__(self, target: Any, limits: Dict[str, int]) -> None:
        self._target = target
        self.utils = self
        self._limits = limits

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self, device: Any = None) -> int:
        return 0

    get_current_stream = get_current_device

    def get_active_torch_device(self) -> Any:
        """For tutorials that ask for it on import; torch is then the user's own."""
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_device_properties(self, device: Any = None) -> Dict[str, Any]:
        """The target's limits under the names that Triton's drivers use."""
        return {**self._limits, "arch": self._target.arch} if self._target.backend == "hip" else dict(self._limits)

    def get_benchmarker(self) -> Any:
        """Autotuners of 3.2 and later require one."""
        return lambda call, **_: 0.0

    def get_empty_cache_for_benchmark(self) -> None:
        return

    def get_device_capability(self, device: Any = None) -> Any:
        return capability(self._target.backend, str(self._target.arch))


def set_driver(target: Any, limits: Dict[str, int]) -> None:
    """Make the stub the active driver, on releases that support it."""
    from triton.runtime.driver import driver

    if hasattr(driver, "set_active"):
        driver.set_active(StubDriver(target, limits))


def make_source(kernel: Any, case: Dict[str, Any]) -> Any:
    """An ASTSource (GluonASTSource for Gluon) of the case. Raises BadCase and values.BadValue."""
    arguments = _arguments(kernel)
    constants = _constants(arguments, case)
    types = case["signature"]
    names = [argument["name"] for argument in arguments]
    unknown = [name for name in list(types) + list(case["constexprs"]) if name not in names]
    if unknown:
        raise BadCase("%s is not an argument of %s(%s)" % (unknown[0], kernel.__name__, ", ".join(names)))
    for argument in arguments:
        name = argument["name"]
        if name in types and argument["constexpr"]:
            raise BadCase("%s is a tl.constexpr: give it under constexprs (--const %s=VALUE)" % (name, name))
        if name not in types and name not in constants:
            hint = "--const %s=VALUE" if argument["constexpr"] else "--arg %s=TYPE"
            raise BadCase(
                "argument %s of %s has no %s (%s)"
                % (name, kernel.__name__, "value" if argument["constexpr"] else "type", hint % name)
            )
    divisible = [i for i, a in enumerate(arguments) if case["divisible"].get(a["name"]) == 16 and a["name"] in types]
    source_class = _source_class(kernel, case["language"])
    if "constexprs" in inspect.signature(source_class.__init__).parameters:
        signature = {a["name"]: types.get(a["name"], "constexpr") for a in arguments}
        indexed = {(i,): constants[a["name"]] for i, a in enumerate(arguments) if a["name"] in constants}
        attributes = {(i,): [["tt.divisibility", 16]] for i in divisible}
        return source_class(kernel, signature, indexed, attributes)
    signature = {a["name"]: types[a["name"]] for a in arguments if a["name"] in types}
    return source_class(kernel, signature, constants, _attributes(divisible))


def check_options(target: Any, options: Dict[str, Any]) -> None:
    """Raise BadCase for an option that the back-end does not know; every release ignores it silently."""
    from triton.compiler.compiler import make_backend

    known = set(getattr(type(make_backend(target).parse_options({})), "__dataclass_fields__", options))
    for name in options:
        if name not in known:
            raise BadCase("option %s is not known to this back-end; it has %s" % (name, ", ".join(sorted(known))))


def _arguments(kernel: Any) -> List[Dict[str, Any]]:
    return [
        {
            "name": parameter.name,
            "constexpr": bool(parameter.is_constexpr),
            "default": parameter.default if getattr(parameter, "has_default", False) else inspect.Parameter.empty,
        }
        for parameter in kernel.params
    ]


def _constants(arguments: List[Dict[str, Any]], case: Dict[str, Any]) -> Dict[str, Any]:
    constants = {}
    for argument in arguments:
        name = argument["name"]
        if name in case["constexprs"]:
            constants[name] = values.decode(case["constexprs"][name])
        elif name not in case["signature"] and argument["default"] is not inspect.Parameter.empty:
            constants[name] = argument["default"]
    return constants


def language_of(kernel: Any) -> str:
    """``triton`` or ``gluon``."""
    gluon = getattr(kernel, "is_gluon", None)
    is_gluon = bool(gluon()) if callable(gluon) else type(kernel).__name__ == "GluonJITFunction"
    return "gluon" if is_gluon else "triton"


def _source_class(kernel: Any, language: str) -> Any:
    own = language_of(kernel)
    if own != language:
        raise BadCase("%s is a %s kernel, the case says language %r" % (kernel.__name__, own, language))
    if own == "gluon":
        from triton.experimental.gluon._runtime import GluonASTSource

        return GluonASTSource
    from triton.compiler.compiler import ASTSource

    return ASTSource


def _attributes(divisible: List[int]) -> Any:
    try:
        from triton.backends.compiler import AttrsDescriptor  # 3.2

        return AttrsDescriptor.from_hints(dict.fromkeys(divisible, 16))
    except ImportError:
        from triton.compiler.compiler import AttrsDescriptor  # 3.0, 3.1

        return AttrsDescriptor(divisible_by_16=set(divisible), equal_to_1=set())


def cache_entry(cache: str, name: str) -> Optional[str]:
    """The folder of the finished cache entry (it holds the kernel's .json, written last)."""
    for folder in sorted(os.listdir(cache)) if os.path.isdir(cache) else []:
        if (Path(cache) / folder / ("%s.json" % name[:150])).exists():
            return folder
    return None


def ptxas_version(arch: str) -> Optional[str]:
    """Version of the ptxas that this Triton uses for the arch (wheels carry a second one for Blackwell)."""
    import triton

    folder = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    names = ["ptxas-blackwell", "ptxas"] if int(arch) >= 100 else ["ptxas"]
    for name in names:
        if (folder / name).is_file():
            output = subprocess.run([str(folder / name), "--version"], stdout=subprocess.PIPE, check=False).stdout
            release = re.search(r"release (\d+\.\d+)", output.decode())
            return release.group(1) if release else None
    return None
