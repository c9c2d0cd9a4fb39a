"""A coalesced layout, which only NVIDIA's pipeline resolves."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy(source_ptr, target_ptr, BLOCK: gl.constexpr):
    offsets = gl.arange(0, BLOCK, gl.AutoLayout())
    sources = gl.set_auto_layout(source_ptr + offsets, gl.CoalescedLayout())
    targets = gl.set_auto_layout(target_ptr + offsets, gl.CoalescedLayout())
    gl.store(targets, gl.load(sources))
