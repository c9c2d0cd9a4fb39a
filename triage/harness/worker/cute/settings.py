"""Sets the DSL's environment variables for the architecture and the files to write, in a process that has already read
them."""

import os
import tempfile
from typing import Any, Dict

_ALWAYS = {
    # Without it 4.8 reports no source location of failures below tracing.
    "LINEINFO": "1",
    "KEEP_PTX": "1",
    "KEEP_CUBIN": "1",
    "DISABLE_FILE_CACHING": "1",
    # Exceptions keep the frames of the DSL, among which are the user's.
    "FILTER_STACKTRACE": "0",
}
_PREFIX = "CUTE_DSL_"
_EXPERIMENTAL = "CUTE_EXPERIMENTAL_DSL_"
"""Prefix of a second DSL, which 4.8 instantiates with the first."""


def before_import() -> None:
    """Set the variables that the DSL reads on import. Without a cache folder it creates one that stays in the temporary
    folder; with one it writes no files there."""
    for name, value in _ALWAYS.items():
        os.environ[_PREFIX + name] = value
    for prefix in (_PREFIX, _EXPERIMENTAL):
        os.environ[prefix + "CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "triage-%d" % os.geteuid(), "cute-cache")


def architecture(target: Dict[str, Any], options: Dict[str, Any]) -> str:
    """The DSL's name of a target: with architecture-specific features (``a``) from 9.0 on, as for a GPU that the DSL
    detects itself (``detect_gpu_arch`` in cutlass/base_dsl/env_manager.py)."""
    stated = options.get("arch")
    if stated:
        return str(stated)
    return "sm_%s%s" % (target["arch"], "a" if int(target["arch"]) >= 90 else "")


def apply(arch: str, folder: str) -> None:
    """Set the variables and have the DSL read them again. ``folder``: where PTX and cubin are written."""
    os.makedirs(folder, exist_ok=True)
    for name, value in {**_ALWAYS, "ARCH": arch, "DUMP_DIR": folder}.items():
        for prefix in (_PREFIX, _EXPERIMENTAL):
            os.environ[prefix + name] = value
    from cutlass.base_dsl import dsl, env_manager

    for function in list(vars(env_manager).values()):
        clear = getattr(function, "cache_clear", None)
        if callable(clear):
            clear()
    for instance in _instances(dsl):
        instance.envar = type(instance.envar)(instance.name)


def _instances(dsl: Any) -> Any:
    """Existing instances of the DSL: a metaclass has them from 4.1 on, a function before."""
    instances = getattr(getattr(dsl, "DSLSingletonMeta", None), "_instances", None)
    if instances is not None:
        return list(instances.values())
    from cutlass.cutlass_dsl import CuTeDSL

    return [CuTeDSL._get_dsl()]
