"""Which module of the program is patched how, once it is imported."""

from __future__ import annotations

from typing import Any, Callable, Dict

from .. import folder
from . import driver, reached
from .device import described


def loaded(module: Any) -> None:
    """Patch a module that has been imported; its name is in ``AWAITED``."""
    AWAITED[module.__name__](module)


def _driver(module: Any) -> None:
    driver.set_driver(module, described())


def _compiler(module: Any) -> None:
    reached.follow(module)


def _torch(module: Any) -> None:
    from . import backward, cuda, inductor, tensors

    if not cuda.can_pretend(module):
        text = "torch %s has no fake device tensors where there is no device; later releases have"
        folder.leave({"limit": text % module.__version__})
        return
    cuda.pretend(module, described())
    tensors.enter(module)
    backward.replace_engine(module)
    inductor.allocate_fakes(module)


def _benchmarking(module: Any) -> None:
    from . import inductor

    inductor.time_nothing(module)


def _config(module: Any) -> None:
    from . import inductor

    inductor.configure(module)


AWAITED: Dict[str, Callable[[Any], None]] = {
    "triton.compiler.compiler": _compiler,
    "triton.runtime.driver": _driver,
    "triton.testing": driver.time_nothing,
    "triton.runtime.autotuner": driver.keep_no_timings,
    "torch": _torch,
    "torch._inductor.config": _config,
    "torch._inductor.runtime.benchmarking": _benchmarking,
}
