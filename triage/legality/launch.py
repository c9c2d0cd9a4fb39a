"""What a launch takes: warps and threads a block, blocks a cluster.

Triton itself requires that ``num_warps`` is a power of two (``triton/backends/*/compiler.py``, the assertion on
options), and warp specialization adds warps for its partitions.
"""

from triage.legality.explanation import Fact, RuleTable
from triage.legality.limits import limits, tabulated
from triage.legality.rule import Arguments, Judgement, LegalityRule, Parameter, Syntax
from triage.legality.violation import Violation, powers, require, spoken
from triage.model.gpus import MAX_THREADS
from triage.model.target import Target

_TRITON = "triton/backends/*/compiler.py: num_warps must be a power of 2"
TITLE = "warps and threads a block, blocks a cluster"


def violations(target: Target, num_warps: int = 4, num_ctas: int = 1) -> list[Violation]:
    """Limits that a launch of ``num_warps`` warps a block and ``num_ctas`` blocks a cluster breaks; none for a target
    that is not in the table, but for the power of two."""
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


def _judge(args: Arguments) -> Judgement:
    target, warps, ctas = args["target"], args["num_warps"], args["num_ctas"]
    row = limits(target)
    threads = warps * target.warp_size
    facts = [Fact("threads", threads, "threads a block", f"{threads} = {warps} warps x {target.warp_size}")]
    if row is not None:
        facts.append(Fact("max_threads", row.threads, "at most"))
        facts.append(Fact("max_cluster_blocks", row.cluster_blocks, "blocks a cluster, at most"))
    subject, sources = f"num_warps={warps}, num_ctas={ctas} on {target}", (row.source,) if row else ()
    return Judgement(subject, violations(target, warps, ctas), facts, sources=sources)


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
        Parameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        Parameter("num-warps", Syntax.INTEGER, "warps a block", default="4"),
        Parameter("num-ctas", Syntax.INTEGER, "blocks a cluster", default="1"),
    ),
    _judge,
    _tables,
    ("--num-warps 64", "--num-warps 16 --target hip:gfx942", "--num-ctas 2 --target cuda:80"),
    (_TRITON,),
)
