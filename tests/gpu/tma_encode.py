"""Compares ``triage.legality.tma.violations`` with the driver: is a tensor map encoded just where the rule is content.

Needs a GPU of compute capability 9.0 or later and its driver, nothing else: ``python tests/gpu/tma_encode.py``. It asks
cuTensorMapEncodeTiled, which only writes 128 bytes on the host, for some ten thousand maps, and prints how many were
asked and every disagreement (the first 40 a group). Exit code 0 when there is none, 1 when there is one, 2 when the
driver could not be asked.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from triage.legality import tma
from triage.legality.dtypes import parse
from triage.legality.tma.types import INTERLEAVES, SWIZZLES, element

_SHOWN = 40
_INVALID_VALUE = 1
_PLAIN = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "tf32")
_PACKED = (("e2m1", False), ("e2m1", True), ("e3m2", True))


class Unavailable(Exception):
    """The driver cannot be asked; the text says why."""


@dataclass(frozen=True)
class Asked:
    """Arguments of the rule; the driver gets the same, innermost axis first and strides in bytes."""

    group: str
    dtype: str
    box: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    swizzle: str = "none"
    interleave: str = "none"
    offset: int = 0
    steps: tuple[int, ...] = ()
    padded: bool = False

    def arguments(self) -> dict[str, Any]:
        """As ``tma.violations`` takes them. The base is aligned to 256 bytes, so an offset's lowest bit is the rest."""
        return {
            "dtype": self.dtype,
            "box": self.box,
            "shape": self.shape,
            "strides": self.strides,
            "swizzle": self.swizzle,
            "interleave": self.interleave,
            "base_alignment": self.offset & -self.offset if self.offset else 256,
            "steps": self.steps or (1,) * len(self.box),
            "padded": self.padded,
        }


class Driver:
    """libcuda with a primary context and a little memory."""

    def __init__(self) -> None:
        try:
            self._cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Unavailable(str(error)) from None
        if not hasattr(self._cuda, "cuTensorMapEncodeTiled"):
            raise Unavailable("libcuda has no cuTensorMapEncodeTiled: it is older than CUDA 12.0")
        self._call("cuInit", ctypes.c_uint(0))
        version, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDriverGetVersion", ctypes.byref(version))
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.version = f"{version.value // 1000}.{version.value % 1000 // 10}"
        self.capability = 10 * self._attribute(75, device) + self._attribute(76, device)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        memory = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(1 << 20))
        self._base = (memory.value + 255) & ~255
        self._encode = self._cuda.cuTensorMapEncodeTiled
        self._encode.restype = ctypes.c_int
        # The map must lie on a multiple of 64 bytes.
        self._room = ctypes.create_string_buffer(128 + 64)
        self._map = ctypes.c_void_p((ctypes.addressof(self._room) + 63) & ~63)

    def _attribute(self, number: int, device: ctypes.c_int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(number), device)
        return value.value

    def _call(self, name: str, *arguments: Any) -> None:
        if not hasattr(self._cuda, name):
            raise Unavailable(f"libcuda has no {name}")
        code = int(getattr(self._cuda, name)(*arguments))
        if code:
            raise Unavailable(f"{name} answered {code}")

    def encode(self, asked: Asked) -> int:
        """The driver's answer: 0, or its error code."""
        row = element(parse(asked.dtype), asked.padded)
        assert row is not None
        rank = len(asked.box)
        sizes = (ctypes.c_uint64 * max(rank, 1))(*reversed(asked.shape))
        strides = (ctypes.c_uint64 * max(rank - 1, 1))(*(one * row.bits // 8 for one in reversed(asked.strides[:-1])))
        box = (ctypes.c_uint32 * max(rank, 1))(*reversed(asked.box))
        steps = (ctypes.c_uint32 * max(rank, 1))(*reversed(asked.steps or (1,) * rank))
        return int(
            self._encode(
                self._map,
                ctypes.c_int(row.code),
                ctypes.c_uint32(rank),
                ctypes.c_void_p(self._base + asked.offset),
                sizes,
                strides,
                box,
                steps,
                ctypes.c_int(list(INTERLEAVES).index(asked.interleave)),
                ctypes.c_int(list(SWIZZLES).index(asked.swizzle)),
                ctypes.c_int(0),
                ctypes.c_int(0),
            )
        )


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides)


def _made(group: str, dtype: str, box: Sequence[int], size: int = 512, **more: Any) -> Asked:
    shape = tuple(more.pop("shape", (8,) * (len(box) - 2) + (size,) * min(len(box), 2)))
    return Asked(group, dtype, tuple(box), shape, tuple(more.pop("strides", _dense(shape))), **more)


def _rows() -> Iterator[Asked]:
    """Every inner box of every type and swizzle, in one to five axes."""
    inner = (*range(35), 40, 48, 56, 60, 63, 64, 65, 72, 80, 96, 112, 120, 124, 127, *range(128, 258, 8), 257, 512)
    for dtype, swizzle, count in itertools.product(_PLAIN, SWIZZLES, inner):
        for rank in (1, 2, 3, 5):
            yield _made("rows", dtype, (*(1,) * max(rank - 2, 0), *(8,) * min(rank - 1, 1), count), swizzle=swizzle)


def _boxes() -> Iterator[Asked]:
    """Outer axes of the box."""
    outer = (0, 1, 2, 3, 7, 8, 100, 255, 256, 257, 512, 1 << 20)
    for size, rank in itertools.product(outer, range(2, 6)):
        for place in range(rank - 1):
            box = [2] * (rank - 1) + [16]
            box[place] = size
            yield _made("boxes", "f16", box, swizzle="32")
    for sizes in itertools.product((1, 16, 64, 128, 256), repeat=3):
        yield _made("boxes", "f32", (*sizes[:2], 32), swizzle="128")
        yield _made("boxes", "u8", sizes)


def _ranks() -> Iterator[Asked]:
    for rank, interleave, swizzle in itertools.product(range(8), INTERLEAVES, SWIZZLES):
        box = (*(2,) * (rank - 1), 16) if rank else ()
        yield _made("ranks", "f16", box, interleave=interleave, swizzle=swizzle, shape=(*(4,) * (rank - 1), 64)[:rank])


def _strides() -> Iterator[Asked]:
    """Strides in bytes around multiples of 16 and 32, nothing, and 2^40; smaller than the rows too."""
    sizes = (0, 1, 2, 4, 8, 12, 15, 16, 17, 24, 30, 32, 40, 48, 64, 100, 128, 1000, 1008, 1024, 1 << 20, (1 << 40) - 32)
    more = ((1 << 40) - 16, (1 << 40) - 8, 1 << 40, (1 << 40) + 16, 1 << 41)
    for dtype, interleave, size in itertools.product(("u8", "f16", "f32", "f64"), INTERLEAVES, (*sizes, *more)):
        width = parse(dtype).bits // 8
        if size % width:
            continue
        swizzle = "32" if interleave == "32" else "none"
        for place in range(2):
            strides = [1 << 16, 1 << 12, 1]
            strides[place] = size // width
            box = (2, 4, 32 // width)
            yield _made(
                "strides", dtype, box, shape=(4, 8, 16), strides=strides, interleave=interleave, swizzle=swizzle
            )


def _addresses() -> Iterator[Asked]:
    for offset, interleave, (dtype, padded) in itertools.product(
        (0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128), INTERLEAVES, (("f16", False), ("u8", False))
    ):
        swizzle = "32" if interleave == "32" else "none"
        yield _made(
            "addresses",
            dtype,
            (2, 4, 16),
            shape=(4, 8, 64),
            offset=offset,
            interleave=interleave,
            swizzle=swizzle,
            padded=padded,
        )


def _sizes() -> Iterator[Asked]:
    """Sizes of the tensor: nothing, small, and around 2^32."""
    for size, rank in itertools.product(
        (0, 1, 2, 7, 8, 1 << 20, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 40), (1, 2, 3)
    ):
        for place in range(rank):
            shape = [4] * (rank - 1) + [64]
            shape[place] = size
            strides = (*(1 << 36 - 4 * axis for axis in range(rank - 1)), 1)
            yield _made("sizes", "f16", (*(1,) * (rank - 1), 16), shape=shape, strides=strides)


def _steps() -> Iterator[Asked]:
    for step, place, interleave in itertools.product((0, 1, 2, 3, 7, 8, 9, 16), range(3), INTERLEAVES):
        steps = [1, 1, 1]
        steps[place] = step
        swizzle = "32" if interleave == "32" else "none"
        yield _made(
            "steps", "f16", (8, 8, 16), shape=(8, 8, 64), steps=tuple(steps), interleave=interleave, swizzle=swizzle
        )


def _interleaved() -> Iterator[Asked]:
    """Inner boxes with an interleave, where no row has to be a multiple of 16 bytes."""
    inner = (1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 24, 32, 48, 64, 65, 96, 128, 256, 257)
    for dtype, interleave, swizzle, count in itertools.product(("u8", "f16", "f32"), ("16", "32"), SWIZZLES, inner):
        yield _made("interleaved", dtype, (2, 4, count), shape=(8, 8, 512), interleave=interleave, swizzle=swizzle)


def _packed() -> Iterator[Asked]:
    """4- and 6-bit elements; before 10.0 a driver may take none."""
    inner = (16, 32, 64, 96, 127, 128, 129, 160, 256)
    for (dtype, padded), swizzle, count in itertools.product(_PACKED, SWIZZLES, inner):
        for width, stride, offset in ((256, 1024, 0), (128, 1024, 0), (130, 1024, 0), (256, 544, 0), (256, 1024, 16)):
            yield _made(
                "packed",
                dtype,
                (8, count),
                shape=(16, width),
                strides=(stride, 1),
                swizzle=swizzle,
                padded=padded,
                offset=offset,
            )


GROUPS = (_rows, _boxes, _ranks, _strides, _addresses, _sizes, _steps, _interleaved, _packed)


def main() -> int:
    """Ask everything, print what differs."""
    try:
        driver = Driver()
    except Unavailable as error:
        print(f"the driver cannot be asked: {error}")
        return 2
    print(f"driver {driver.version}, compute capability {driver.capability / 10}")
    target = f"cuda:{driver.capability}"
    bad, codes = Counter[str](), Counter[int]()
    total = 0
    for group in GROUPS:
        asked_here = agreed_legal = 0
        for asked in group():
            found = tma.violations(**asked.arguments(), target=target)
            code = driver.encode(asked)
            asked_here += 1
            codes[code] += 1
            agreed_legal += code == 0 and not found
            if (code == 0) == (found == []):
                continue
            bad[asked.group] += 1
            if bad[asked.group] <= _SHOWN:
                answer = "takes it" if code == 0 else f"answers {code}"
                print(f"  {asked}\n    the driver {answer}, the rule says {'; '.join(map(str, found)) or 'legal'}")
        total += asked_here
        name = group.__name__.strip("_")
        print(f"{name}: {asked_here} asked, {agreed_legal} legal to both, {bad[name]} disagreements")
    other = {code: count for code, count in codes.items() if code not in (0, _INVALID_VALUE)}
    print(f"{total} asked, {sum(bad.values())} disagreements" + (f", other error codes {other}" if other else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
