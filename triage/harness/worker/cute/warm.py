"""One tiny kernel whose compile pays the DSL's one-time costs in the server."""

import cutlass
from cutlass import cute

from . import arguments, grammar


@cute.kernel  # type: ignore[untyped-decorator]
def _store(tensor: cute.Tensor):  # type: ignore[no-untyped-def]
    thread, _, _ = cute.arch.thread_idx()
    tensor[thread] = cutlass.Float32(1.0)


@cute.jit  # type: ignore[untyped-decorator]
def _host(tensor: cute.Tensor):  # type: ignore[no-untyped-def]
    _store(tensor).launch(grid=(1, 1, 1), block=(32, 1, 1))


def compile_once() -> None:
    """Compile it as a program would."""
    cute.compile(_host, arguments.Arguments().make(grammar.parse("tensor<f32, (32):(1), align=16>")))
