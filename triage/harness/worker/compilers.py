"""What a worker needs of a compiler: one module each, with the functions of :class:`CompilerModule`."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from typing import Optional, Protocol

    from .recorder import Recorder

    class CompilerModule(Protocol):
        """A module that adapts one compiler. ``message``: a request, or that which starts a target server."""

        def load_compiler(self) -> Dict[str, str]:
            """Import the compiler and instrument it, once in a process; facts of the environment."""

        def set_target(self, message: Dict[str, Any]) -> None:
            """What modules ask for "their" GPU is the target's from now on."""

        def warm_up(self, message: Dict[str, Any]) -> None:
            """Pay the costs of a first compile for the target, so that forks need not."""

        def tools(self, message: Dict[str, Any]) -> Dict[str, str]:
            """Facts of the programs that the compiler would start for the target."""

        def library_key(self) -> Optional[str]:
            """What another process of the installation may be given as ``triton_key`` to start sooner."""

        def settle(self, module: ModuleType) -> None:
            """Compute once, before forks, what every compile of the module computes."""

        def compile(self, request: Dict[str, Any], module: ModuleType, recording: Recorder) -> None:
            """Compile the request's kernel and report the verdict; raises what the compiler raises."""


_MODULES = {"triton": "triton_compiler", "cute": "cute.compiler"}


def chosen(name: str) -> "CompilerModule":
    """The adapter of the compiler of that name."""
    module: Any = importlib.import_module("." + _MODULES[name], __package__)
    return module  # type: ignore[no-any-return]
