"""Guards a part of itself: live.py HOW [FOLDER]"""

import sys

import toolbox
from deaths import kernel

import triage


def compile_one(how, block):
    kernel.warmup(toolbox.Tensor(), toolbox.Tensor(), 1000, how, block, grid=(1,), num_warps=2)


how, folder = sys.argv[1], (sys.argv[2:] or [None])[0]
toolbox.pretend()
with triage.guard(folder=folder, timeout_s=4) as outer:
    compile_one(how, 64)
    with triage.guard(quiet=True) as inner:
        for _ in range(2):
            try:
                compile_one(how, 128)
            except triage.CompileFailed as error:
                print("caught", isinstance(error, Exception), str(error).splitlines()[0])
    compile_one(how, 256)
print([(one.configuration, one.met, one.path.startswith(folder or "/")) for one in outer.refused], len(inner.refused))
print("ends", flush=True)
compile_one(how, 128)
print("not guarded any more")
