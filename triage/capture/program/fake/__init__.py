"""``--compile-only``, in the user's program: a GPU that is none, on which kernels are compiled and nothing runs.

Triton's driver is a stub with the target that was asked for. Where torch is imported, its device tensors are fake ones
(torch's fake-tensor mode): shapes, dtypes and strides without data. The host's own work is done as ever. What the
program can see of the device follows one rule: its memory holds what the host has put there, as far as that is small
enough to be kept (see ``values.py``), all else reads as zero, and kernels write nothing.
"""
