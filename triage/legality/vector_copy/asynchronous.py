"""``triage explain cp-async``: the instruction, and with ``--dtype`` the layouts that it copies between."""

from dataclasses import replace

from triage.legality.cp_async import PREFETCHES, PTX, SINCE, SIZES, violations
from triage.legality.explanation import Fact, RuleTable
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.vector_copy import request
from triage.legality.vector_copy.request import TENSORS
from triage.legality.vector_copy.rule import judged
from triage.legality.violation import Violation

_TRITON = "Triton 3.9.0, third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/LoadStoreOpToLLVM.cpp: AsyncCopyGlobalToLocal"
TITLE = "cp.async: copies of 4, 8 and 16 bytes from global to shared memory"
_OWN = ("bytes", "cache", "src_bytes", "prefetch", "alignment", "target")


def _judge(args: Arguments) -> Judgement:
    target, bytes, cache = args["target"], args["bytes"], args["cache"]
    own = {name: args[name] for name in _OWN if name in args}
    prefetch = int(args["prefetch"]) if "prefetch" in args else None
    broken = violations(**{**own, "prefetch": prefetch})
    alignment = args.get("alignment")
    facts = [Fact("warp_bytes", 32 * bytes, "bytes a warp", f"{32 * bytes} = 32 threads x {bytes}")]
    if alignment:
        legal = [(size, name) for name, sizes in SIZES.items() for size in sizes if alignment % size == 0]
        widest = max(legal, default=None)
        text = f".{widest[1]} of {widest[0]} bytes" if widest else f"none: {alignment} bytes is less than 4"
        facts.append(Fact("widest", widest[0] if widest else None, "widest at this alignment", text))
    subject = f"cp.async.{cache} of {bytes} bytes on {target}"
    if "dtype" not in args:
        return Judgement(subject, broken, facts, notes=_NOTES)
    copy = judged(request.read(args, 8 * bytes), args, asynchronous=True)
    # The sizes of the instruction are checked above.
    layouts = [violation for violation in copy.violations if violation.rule != "vector-copy.width"]
    return Judgement(
        f"{subject} between {args['dtype']} tiles",
        [*broken, *(_renamed(violation) for violation in layouts)],
        [*facts, *copy.facts],
        drawings=copy.drawings,
        notes=_NOTES,
        sources=copy.sources,
        alternatives=[
            (name, {key: value for key, value in change.items() if key not in ("bits", "async")})
            for name, change in copy.alternatives
            if "bits" not in change
        ],
    )


def _renamed(violation: Violation) -> Violation:
    """A layout violation renamed as one of this rule, with bits converted to bytes."""
    rule = violation.rule.replace("vector-copy.", "cp-async.")
    if violation.parameter != "bits":
        return replace(violation, rule=rule)
    sizes = tuple(bits // 8 for bits in violation.allowed if isinstance(bits, int) and bits >= 32)
    near = tuple(bits // 8 for bits in violation.nearest if isinstance(bits, int) and bits >= 32)
    size = violation.given // 8 if isinstance(violation.given, int) else violation.given
    return replace(violation, rule=rule, parameter="bytes", given=size, allowed=sizes, nearest=near)


_NOTES = (
    "Triton takes .cg for 16 bytes and .ca for 4 and 8; a masked load reads 0 bytes where its mask is false, so other "
    "values than zero take a select after it.",
    "A vector of less than 4 bytes has no cp.async: the load stays ld.global with st.shared, and waits in "
    "registers (triage explain vector-copy).",
)


def _tables(args: Arguments) -> list[RuleTable]:
    rows = tuple(
        (f".{name}", ", ".join(map(str, sizes)), "0 … size", "size", f"cuda:{SINCE} on")
        for name, sizes in SIZES.items()
    )
    columns = ("cache", "bytes", "bytes to read", "alignment of both addresses", "targets")
    return [RuleTable(TITLE, columns, rows)]


RULE = LegalityRule(
    "cp-async",
    TITLE,
    (
        RuleParameter("bytes", Syntax.INTEGER, "bytes a thread copies", required=True),
        RuleParameter("cache", Syntax.CHOICE, "cache operator", ("ca", "cg"), "ca"),
        RuleParameter("src-bytes", Syntax.INTEGER, "bytes to read; the rest is zeros"),
        RuleParameter("prefetch", Syntax.CHOICE, "bytes that L2 fetches ahead", tuple(map(str, PREFETCHES))),
        RuleParameter("alignment", Syntax.INTEGER, "bytes that both addresses are multiples of"),
        RuleParameter("dtype", Syntax.DTYPE, "type of elements: judges the layouts below too"),
        *TENSORS,
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:80"),
    ),
    _judge,
    _tables,
    (
        "--bytes 16 --cache cg --prefetch 128",
        "--bytes 8 --cache cg",
        "--bytes 2 --alignment 2",
        "--bytes 16 --src-bytes 20 --target cuda:75",
        "--bytes 16 --dtype bf16 --shape 128,64 --stride 1,128",
    ),
    (PTX, _TRITON),
    _NOTES,
)
