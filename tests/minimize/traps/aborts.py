"""What ends the process with SIGABRT on Triton 3.2, each time in another place of the compiler."""

from __future__ import annotations

from traps.failure import Failure, failures

RELEASE = "3.2.0"

_CLUSTER = {"num_ctas": 2}
_BATCHED = """\
batch = tl.arange(0, 4)[:, None, None]
{v} = batch * 1024 + tl.arange(0, 32)[None, :, None] * 32 + tl.arange(0, 32)[None, None, :]
tl.store(y_ptr + {v}, tl.dot(tl.load(h_ptr + {v}), tl.load(h_ptr + {v})))"""
_NEGATED = """\
lines = tl.arange(0, 32)
{v} = tl.zeros([32], tl.float32)
for step in range(0, n):
    {v} = -tl.sum(tl.load(x_ptr + step * 16384 + lines[:, None] * 512 + tl.arange(0, 512)[None, :]), axis=1)
tl.store(y_ptr + lines, {v})"""
_SCAN = "tl.store(y_ptr + tile, tl.cumsum(h.to(tl.float32), axis=1))"
_GRAM = """\
wide = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
{v} = tl.load(h_ptr + wide)
tl.store(y_ptr + wide, tl.dot({v}, tl.trans({v})))"""

ABORTS = failures(
    Failure("old-batched", _BATCHED, "llvm::ArrayRef<.*Index < Length", targets=("cuda:90",), options=_CLUSTER),
    Failure("old-negated", _NEGATED, r"isa<BlockArgument>\(accumOperand\)"),
    # What fails of a scan on a cluster depends on what stands beside it.
    Failure("old-scan", _SCAN, r"ScanOpToLLVM.*numScanBlocks \*", targets=("cuda:90",), options=_CLUSTER),
    Failure("old-rank", _SCAN, "fields must have the same rank", targets=("cuda:90",), options=_CLUSTER),
    Failure("old-gram", _GRAM, "Failed to emit transfer from register", targets=("cuda:90",), options=_CLUSTER),
    Failure(
        "old-while",
        "{v} = i\nwhile {v} > 1:\n    {v} = {v} // 2\ntl.store(i_ptr + offsets, {v})",
        r"cast<Ty>\(\) argument of incompatible type",
    ),
    Failure("old-sum", "tl.store(y_ptr + tl.arange(0, 32), tl.sum(q, axis=1))", "invalid element type in packLLEl"),
)
