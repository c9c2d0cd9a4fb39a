"""Puts what the guard's service compiled into Triton's cache, through the program's own cache manager, under the key
that the program is about to look up."""

import json
import os
import sys
from types import FunctionType
from typing import Any, Dict, Optional

from . import guard, labels
from .service import compiler_variables

_PRINTING = frozenset(
    {
        "TRITON_KERNEL_DUMP",
        "TRITON_KERNEL_OVERRIDE",
        "TRITON_ALWAYS_COMPILE",
        "TRITON_REPRODUCER_PATH",
        "TRITON_ENABLE_LLVM_DEBUG",
        "TRITON_LLVM_DEBUG_ONLY",
        "MLIR_ENABLE_DUMP",
        "LLVM_IR_ENABLE_DUMP",
        "NVPTX_ENABLE_DUMP",
        "AMDGCN_ENABLE_DUMP",
        "USE_IR_LOC",
        "USE_TTGIR_LOC",
    }
)
"""With these set a compile does more than produce a binary, so the program has to do it itself."""


class TritonCompile(guard.Pending):
    """A compile of Triton's. ``local``: variables of ``compile``; ``manager``: of its cache, where ``filename`` is the
    group of files that it looks up."""

    def __init__(self, local: Dict[str, Any], path: str, manager: Any, filename: str) -> None:
        guard.Pending.__init__(self, labels.kernel_name(local["src"]), str(local["hash"]), path, "triton")
        self._backend, self._manager, self._filename = local["backend"], manager, filename

    def deliver(self, entry: str) -> Optional[Dict[str, str]]:
        """Store the files under this process's key. Metadata naming that key come last: without them there is no
        entry. Returns None where the case does not describe the kernel in full, or the program's compile does
        more."""
        if _does_more(self._backend):
            return None
        with open(os.path.join(self.path, "case.json"), encoding="utf-8") as case:
            if "functions" not in json.load(case)["origin"]:
                return None
        group: Dict[str, str] = {}
        with open(os.path.join(entry, "__grp__" + self._filename), encoding="utf-8") as file:
            names = list(json.load(file)["child_paths"])
        for name in names:
            with open(os.path.join(entry, name), "rb") as stream:
                data = stream.read()
            if name == self._filename:
                text = data.decode("utf-8")
                text = text.replace(json.loads(text)["hash"], self.key)
                group[name] = self._manager.put(text, name, binary=False)
            else:
                group[name] = self._manager.put(data, name)
        self._manager.put_group(self._filename, group)
        return group


def _does_more(backend: Any) -> bool:
    """Whether the program's compile does more than a worker's: variables, a hook, a replaced stage of the compiler."""
    enabled = {name for name, value in compiler_variables().items() if value not in ("", "0")}
    runtime = getattr(sys.modules.get("triton.knobs"), "runtime", None)
    hooked = getattr(runtime, "add_stages_inspection_hook", None) is not None
    functions = [getattr(value, "__func__", value) for value in vars(type(backend)).values()]
    own_module = type(backend).__module__
    changed = any(isinstance(item, FunctionType) and item.__module__ != own_module for item in functions)
    return bool(enabled & _PRINTING) or hooked or changed
