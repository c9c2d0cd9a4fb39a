"""``--compile-only`` in the user's program: an emulated GPU, for which kernels are compiled and never run.

Triton's driver is a stub with the requested target. Where torch is imported, its device tensors are fake ones (torch's
fake-tensor mode): shapes, dtypes and strides without data. Host code runs normally. What the program sees of device
memory follows one rule: it holds what the host wrote, if that is small enough to keep (see ``values.py``); everything
else reads as zero, and kernels write nothing."""
