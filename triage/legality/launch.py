"""Limits of a launch: warps and threads a block, blocks a cluster.

Triton itself requires that ``num_warps`` is a power of two (``triton/backends/*/compiler.py``, the assertion on
options), and warp specialization adds warps for its partitions.
"""

from triage.legality import blocks
from triage.legality.explanation import Fact, RuleTable
from triage.legality.limits import limits, tabulated
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, powers, require, spoken
from triage.model.gpus import MAX_THREADS
from triage.model.target import Target

_TRITON = "triton/backends/*/compiler.py: num_warps must be a power of 2"
TITLE = "warps and threads a block, blocks a cluster"


def violations(target: Target, num_warps: int = 4, num_ctas: int = 1) -> list[Violation]:
    """Violations of a launch of ``num_warps`` warps a block and ``num_ctas`` blocks a cluster. For a target that is not
    in the table only the power of two is checked."""
    row, width = limits(target), target.warp_size
    most = (row.threads if row else MAX_THREADS) // width
    reason, source = f"num_warps={num_warps} is not a power of two", _TRITON
    if num_warps > 0 and num_warps & (num_warps - 1) == 0:
        reason = f"{num_warps} warps of {width} are {num_warps * width} threads; {target} takes {most * width} a block"
        source = row.source if row else _TRITON
    broken = require("launch.num-warps", num_warps, powers(most), source, reason)
    if row is not None:
        ctas = powers(row.cluster_blocks)
        reason = f"a cluster of {num_ctas} blocks; portable are {spoken(ctas)}"
        if row.cluster_blocks == 1:
            reason = f"{target} has no clusters: num_ctas is 1"
        broken += require("launch.num-ctas", num_ctas, ctas, row.source, reason)
    return broken


_DIMENSIONS = {"block", "cluster", "grid", "shared_bytes", "barrier", "barrier_threads"}
"""Parameters of a launch that is specified by dimensions instead of Triton's options."""


def _judge(args: Arguments) -> Judgement:
    target, warps, ctas = args["target"], args["num_warps"], args["num_ctas"]
    row = limits(target)
    threads = warps * target.warp_size
    facts = [Fact("threads", threads, "threads a block", f"{threads} = {warps} warps x {target.warp_size}")]
    if row is not None:
        facts.append(Fact("max_threads", row.threads, "at most"))
        facts.append(Fact("max_cluster_blocks", row.cluster_blocks, "blocks a cluster, at most"))
    subject, sources = f"num_warps={warps}, num_ctas={ctas} on {target}", (row.source,) if row else ()
    if not _DIMENSIONS & args.keys():
        return Judgement(subject, violations(target, warps, ctas), facts, sources=sources)
    dimensions = {name: args[name] for name in ("block", "cluster", "grid", "shared_bytes") if name in args}
    broken = blocks.violations(target, **dimensions)
    broken += blocks.barrier_violations(barrier=args.get("barrier"), threads=args.get("barrier_threads"))
    stated = ", ".join(f"{name.replace('_', ' ')} {args[name]}" for name in sorted(_DIMENSIONS & args.keys()))
    return Judgement(f"{stated} on {target}", broken, facts[1:], sources=(blocks.GUIDE, blocks.CLUSTERS, *sources))


def _tables(args: Arguments) -> list[RuleTable]:
    rows = tuple(
        (str(target), str(target.warp_size), str(row.threads // target.warp_size), str(row.cluster_blocks), row.source)
        for target, row in tabulated()
    )
    return [RuleTable(TITLE, ("target", "warp", "warps, at most", "blocks a cluster", "source"), rows)]


RULE = LegalityRule(
    "launch",
    TITLE,
    (
        RuleParameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        RuleParameter("num-warps", Syntax.INTEGER, "warps a block", default="4"),
        RuleParameter("num-ctas", Syntax.INTEGER, "blocks a cluster", default="1"),
        RuleParameter("block", Syntax.SHAPE, "threads along x,y,z"),
        RuleParameter("cluster", Syntax.SHAPE, "blocks of a cluster along x,y,z"),
        RuleParameter("grid", Syntax.SHAPE, "blocks along x,y,z"),
        RuleParameter("shared-bytes", Syntax.INTEGER, "shared memory a block"),
        RuleParameter("barrier", Syntax.INTEGER, "number of a named barrier"),
        RuleParameter("barrier-threads", Syntax.INTEGER, "threads that meet there"),
    ),
    _judge,
    _tables,
    (
        "--num-warps 64",
        "--num-warps 16 --target hip:gfx942",
        "--num-ctas 2 --target cuda:80",
        "--block 2048,1,1 --cluster 2,1,1 --shared-bytes 307200",
        "--barrier 99 --barrier-threads 100",
    ),
    (_TRITON,),
)
