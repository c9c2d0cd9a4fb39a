"""``cp.async``: copies from global to shared memory that no register sees.

From PTX ISA, "Data movement and conversion instructions: cp.async", enumerated against the assemblers of the Triton
3.9.0 wheel, which agree with the document. Addresses are not seen by an assembler: that they are multiples of the size
is what the document asks.
"""

from triage.legality.explanation import Fact, RuleTable
from triage.legality.rule import Arguments, Judgement, LegalityRule, Parameter, Syntax
from triage.legality.violation import Violation, refuse, require, spoken
from triage.model.target import Target

_PTX = "PTX ISA, data movement and conversion instructions: cp.async"
_TRITON = "Triton 3.9.0, third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/LoadStoreOpToLLVM.cpp: AsyncCopyGlobalToLocal"
TITLE = "cp.async: copies of 4, 8 and 16 bytes from global to shared memory"

SIZES = {"ca": (4, 8, 16), "cg": (16,)}
"""Bytes by cache operator: ``.ca`` caches at every level, ``.cg`` at L2 alone."""
PREFETCHES = (64, 128, 256)
"""Bytes of ``.L2::…B``."""
_SINCE = 80


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
    if (target.capability or 0) < _SINCE:
        allowed = ("cuda:80", "cuda:86", "cuda:89", "cuda:90", "cuda:100", "cuda:120")
        message = f"{target} has no cp.async: it came with cuda:{_SINCE}"
        return [refuse("cp-async.target", str(target), allowed, _PTX, message)]
    broken = []
    sizes = SIZES.get(cache, ())
    if not sizes:
        caches = [name for name, legal in SIZES.items() if bytes in legal]
        broken.append(refuse("cp-async.cache", cache, caches, _PTX, f"cp.async is .ca or .cg, not .{cache}"))
    elif bytes not in sizes:
        message = f"cp.async.{cache} copies {spoken(sizes)} bytes, not {bytes}"
        message += "; .ca copies them" if bytes in SIZES["ca"] else ""
        fit = [size for size in sizes if src_bytes is None or src_bytes <= size]
        broken.append(refuse("cp-async.bytes", bytes, fit, _PTX, message))
    if src_bytes is not None and not 0 <= src_bytes <= bytes:
        message = f"{src_bytes} bytes to read are more than the {bytes} to write"
        reads = range(bytes + 1) if bytes in sizes else ()
        broken.append(refuse("cp-async.src-bytes", src_bytes, reads, _PTX, message))
    if prefetch is not None:
        message = f"L2 prefetches {spoken(PREFETCHES)} bytes, not {prefetch}"
        broken += require("cp-async.prefetch", prefetch, PREFETCHES, _PTX, message)
    if alignment is not None and bytes > 0 and (alignment <= 0 or alignment % bytes):
        message = f"addresses at multiples of {alignment} bytes; cp.async of {bytes} bytes takes multiples of {bytes}"
        broken.append(refuse("cp-async.alignment", alignment, (bytes,), _PTX, message))
    return broken


def _judge(args: Arguments) -> Judgement:
    target, bytes, cache = args["target"], args["bytes"], args["cache"]
    prefetch = int(args["prefetch"]) if "prefetch" in args else None
    broken = violations(**{**args, "prefetch": prefetch})
    alignment = args.get("alignment")
    facts = [Fact("warp_bytes", 32 * bytes, "bytes a warp", f"{32 * bytes} = 32 threads x {bytes}")]
    if alignment:
        legal = [(size, name) for name, sizes in SIZES.items() for size in sizes if alignment % size == 0]
        widest = max(legal, default=None)
        text = f".{widest[1]} of {widest[0]} bytes" if widest else f"none: {alignment} bytes is less than 4"
        facts.append(Fact("widest", widest[0] if widest else None, "widest at this alignment", text))
    return Judgement(f"cp.async.{cache} of {bytes} bytes on {target}", broken, facts, notes=_NOTES)


_NOTES = (
    "Triton takes .cg for 16 bytes and .ca for 4 and 8; a masked load reads 0 bytes where its mask is false, so other "
    "values than zero take a select after it.",
    "A vector of less than 4 bytes has no cp.async: the load stays ld.global with st.shared, and waits in "
    "registers (triage explain vector-copy).",
)


def _tables(args: Arguments) -> list[RuleTable]:
    rows = tuple(
        (f".{name}", ", ".join(map(str, sizes)), "0 … size", "size", f"cuda:{_SINCE} on")
        for name, sizes in SIZES.items()
    )
    columns = ("cache", "bytes", "bytes to read", "alignment of both addresses", "targets")
    return [RuleTable(TITLE, columns, rows)]


RULE = LegalityRule(
    "cp-async",
    TITLE,
    (
        Parameter("bytes", Syntax.INTEGER, "bytes a thread copies", required=True),
        Parameter("cache", Syntax.CHOICE, "cache operator", ("ca", "cg"), "ca"),
        Parameter("src-bytes", Syntax.INTEGER, "bytes to read; the rest is zeros"),
        Parameter("prefetch", Syntax.CHOICE, "bytes that L2 fetches ahead", tuple(map(str, PREFETCHES))),
        Parameter("alignment", Syntax.INTEGER, "bytes that both addresses are multiples of"),
        Parameter("target", Syntax.TARGET, "cuda:NN", default="cuda:80"),
    ),
    _judge,
    _tables,
    (
        "--bytes 16 --cache cg --prefetch 128",
        "--bytes 8 --cache cg",
        "--bytes 2 --alignment 2",
        "--bytes 16 --src-bytes 20 --target cuda:75",
    ),
    (_PTX, _TRITON),
    _NOTES,
)
