"""Which module of the program is patched how, once it is imported."""

from typing import Any, Callable, Dict

from .. import folder
from . import driver, inductor, reached
from .device import described


def loaded(module: Any) -> None:
    """Patch a module that has been imported; its name is in ``AWAITED``."""
    AWAITED[module.__name__](module)


def _torch(module: Any) -> None:
    from . import backward, cuda, tensors

    if not cuda.can_pretend(module):
        text = "torch %s has no fake device tensors where there is no device; later releases have"
        folder.leave({"limit": text % module.__version__})
        return
    cuda.pretend(module, described())
    tensors.enter(module)
    backward.replace_engine(module)
    inductor.allocate_fakes(module)


AWAITED: Dict[str, Callable[[Any], None]] = {
    "triton.compiler.compiler": reached.follow,
    "triton.runtime.driver": driver.set_driver,
    "triton.testing": driver.time_nothing,
    "triton.runtime.autotuner": driver.keep_no_timings,
    "torch": _torch,
    "torch._inductor.config": inductor.configure,
    "torch._inductor.runtime.benchmarking": inductor.time_nothing,
}
