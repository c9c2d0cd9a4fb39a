"""The environment variables by which the DSL is told the architecture and what to keep, made to count in a process that
has already read them."""

import os
import tempfile
from typing import Any, Dict

_ALWAYS = {
    # Without it 4.8 names no place in the source for what fails below tracing.
    "LINEINFO": "1",
    "KEEP_PTX": "1",
    "KEEP_CUBIN": "1",
    "DISABLE_FILE_CACHING": "1",
    # Exceptions keep the frames of the DSL, among which are the user's.
    "FILTER_STACKTRACE": "0",
}
_PREFIX = "CUTE_DSL_"
_EXPERIMENTAL = "CUTE_EXPERIMENTAL_DSL_"
"""Of a second DSL, which 4.8 makes with the first."""


def before_import() -> None:
    """Set what the DSL reads as it is imported: where it keeps files, or else it makes a folder that stays in the
    temporary one. It keeps none."""
    for name, value in _ALWAYS.items():
        os.environ[_PREFIX + name] = value
    for prefix in (_PREFIX, _EXPERIMENTAL):
        os.environ[prefix + "CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "triage-%d" % os.geteuid(), "cute-cache")


def architecture(target: Dict[str, Any], options: Dict[str, Any]) -> str:
    """The name under which the DSL knows a target: with the features of the very architecture from 9.0 on, as the DSL
    names the GPU that it finds itself (``detect_gpu_arch`` in cutlass/base_dsl/env_manager.py)."""
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
    """The DSL's objects that exist: a metaclass keeps them from 4.1 on, a function before."""
    kept = getattr(getattr(dsl, "DSLSingletonMeta", None), "_instances", None)
    if kept is not None:
        return list(kept.values())
    from cutlass.cutlass_dsl import CuTeDSL

    return [CuTeDSL._get_dsl()]
