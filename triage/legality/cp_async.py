"""``cp.async``: copies from global to shared memory that no register sees.

From PTX ISA, "Data movement and conversion instructions: cp.async", enumerated against the assemblers of the Triton
3.9.0 wheel, which agree with the document. Addresses are not seen by an assembler: that they are multiples of the size
is what the document asks.
"""

from triage.legality.violation import Violation, refuse, require, spoken
from triage.model.target import Target

PTX = "PTX ISA, data movement and conversion instructions: cp.async"

SIZES = {"ca": (4, 8, 16), "cg": (16,)}
"""Bytes by cache operator: ``.ca`` caches at every level, ``.cg`` at L2 alone."""
PREFETCHES = (64, 128, 256)
"""Bytes of ``.L2::…B``."""
SINCE = 80


def violations(
    *,
    bytes: int,
    cache: str = "ca",
    src_bytes: int | None = None,
    prefetch: int | None = None,
    alignment: int | None = None,
    target: Target,
) -> list[Violation]:
    """Violations of ``cp.async.CACHE.shared.global{.L2::PREFETCHB} [dst], [src], BYTES{, SRC_BYTES}``; empty when
    it is legal. All sizes are in bytes.

    ``src_bytes`` are read and the rest is filled with zeros (a constant; a register is not checked before it runs, and
    more than ``bytes`` is undefined). ``alignment`` is what both addresses are known to be multiples of. ``cache`` is
    ``ca`` or ``cg``. Source: PTX ISA, cp.async.
    """
    if (target.capability or 0) < SINCE:
        allowed = ("cuda:80", "cuda:86", "cuda:89", "cuda:90", "cuda:100", "cuda:120")
        message = f"{target} has no cp.async: it came with cuda:{SINCE}"
        return [refuse("cp-async.target", str(target), allowed, PTX, message)]
    broken = []
    sizes = SIZES.get(cache, ())
    if not sizes:
        caches = [name for name, legal in SIZES.items() if bytes in legal]
        broken.append(refuse("cp-async.cache", cache, caches, PTX, f"cp.async is .ca or .cg, not .{cache}"))
    elif bytes not in sizes:
        message = f"cp.async.{cache} copies {spoken(sizes)} bytes, not {bytes}"
        message += "; .ca copies them" if bytes in SIZES["ca"] else ""
        fit = [size for size in sizes if src_bytes is None or src_bytes <= size]
        broken.append(refuse("cp-async.bytes", bytes, fit, PTX, message))
    if src_bytes is not None and not 0 <= src_bytes <= bytes:
        message = f"{src_bytes} bytes to read are more than the {bytes} to write"
        reads = range(bytes + 1) if bytes in sizes else ()
        broken.append(refuse("cp-async.src-bytes", src_bytes, reads, PTX, message))
    if prefetch is not None:
        message = f"L2 prefetches {spoken(PREFETCHES)} bytes, not {prefetch}"
        broken += require("cp-async.prefetch", prefetch, PREFETCHES, PTX, message)
    if alignment is not None and bytes > 0 and (alignment <= 0 or alignment % bytes):
        message = f"addresses at multiples of {alignment} bytes; cp.async of {bytes} bytes takes multiples of {bytes}"
        broken.append(refuse("cp-async.alignment", alignment, (bytes,), PTX, message))
    return broken
