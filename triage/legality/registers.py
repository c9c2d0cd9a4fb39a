"""Registers a thread: how many there are for a block, what may be asked for, and when an accumulator spills.

NVIDIA: a thread has at most 255, an SM 65536, given to warps in units of 256 (8 a thread). ``maxnreg`` (PTX
``.maxnreg``) is a bound that ptxas raises to 24 and ignores above 255, with a warning in both cases; only 0 and what
is over 32 bits are errors. ``setmaxnreg``, which warp specialization emits (``requestedRegisters`` in the TTGIR),
takes multiples of 8 in 24 … 256 and an architecture- or family-specific target (``sm_90a``, ``sm_100a``,
``sm_100f``), which is what Triton compiles for from capability 9.0 on. The PTX ISA says the same of it; that 24 bounds
``.maxnreg`` from below is not written there. Confirmed against both ptxas of Triton 3.9.0 by enumeration of
0 … 300 for both.

The accumulator of ``tl.dot`` is BLOCK_M x BLOCK_N words of 4 bytes over all threads of the warps that compute it;
tcgen05 keeps it in tensor memory. Operands that go through registers, addresses and the epilogue come on top, so a
share of the file above three quarters is likely to spill; above the whole of it a spill is certain.
"""

from triage.legality.explanation import Fact, RuleTable
from triage.legality.limits import limits, multiprocessor, tabulated
from triage.legality.occupancy import register_steps, steps_table
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, refuse, require
from triage.model.errors import InputError
from triage.model.target import Target

TITLE = "registers a thread: maxnreg, setmaxnreg, waves_per_eu, accumulators"

SETMAXNREG = tuple(range(24, 257, 8))
"""What setmaxnreg takes (PTX ISA, setmaxnreg)."""
_LOWEST, _HIGHEST = 24, 255
"""Between these ptxas takes ``.maxnreg`` as it is."""
_MOST_MAXNREG = (1 << 32) - 1

_MAXNREG = "PTX ISA, .maxnreg; ptxas"
_SETMAXNREG = "PTX ISA, setmaxnreg: imm-reg-count in 24 to 256, a multiple of 8"
_WAVES = "LLVM, AMDGPU: amdgpu-waves-per-eu"
_ACCUMULATOR = "Triton, MMA layouts: 4 bytes an element of the accumulator, spread over all lanes"


def violations(
    target: Target,
    *,
    num_warps: int = 4,
    maxnreg: int | None = None,
    setmaxnreg: int | None = None,
    waves_per_eu: int | None = None,
) -> list[Violation]:
    """What is wrong with ``maxnreg`` (Triton's option), the immediate of ``setmaxnreg`` and AMD's ``waves_per_eu``
    on a target; empty when nothing is, or when the target is not in the tables."""
    broken: list[Violation] = []
    if maxnreg is not None:
        broken += _maxnreg(target, maxnreg, num_warps)
    if setmaxnreg is not None:
        broken += _setmaxnreg(target, setmaxnreg)
    if waves_per_eu:
        broken += _waves(target, waves_per_eu)
    return broken


def effective_maxnreg(maxnreg: int) -> int:
    """The bound that ptxas puts in force for a ``.maxnreg`` (registers a thread)."""
    return max(_LOWEST, maxnreg) if maxnreg <= _HIGHEST else _HIGHEST


def _maxnreg(target: Target, count: int, num_warps: int) -> list[Violation]:
    rule = "registers.maxnreg"
    if target.backend != "cuda":
        message = f"{target} has no maxnreg: waves_per_eu bounds the registers there"
        return [refuse(rule, count, (), "triton/backends/amd/compiler.py", message)]
    if not 0 < count <= _MOST_MAXNREG:
        message = f".maxnreg {count}: ptxas takes a positive number of 32 bits; 24 … 255 have an effect"
        return [refuse(rule, count, (), _MAXNREG, message)]
    sm = multiprocessor(target)
    steps = register_steps(threads=num_warps * target.warp_size, target=target)
    if sm is None or not steps or count > _HIGHEST or effective_maxnreg(count) <= steps[0][1]:
        return []
    file, most = sm.registers * sm.partitions * target.warp_size, steps[0][1]
    message = f"maxnreg={count} for {num_warps} warps: {file} registers an SM are {most} a thread"
    return [refuse(rule, count, range(_LOWEST, most + 1, 8), sm.source, message)]


def _setmaxnreg(target: Target, count: int) -> list[Violation]:
    rule = "registers.setmaxnreg"
    if (target.capability or 0) < 90:
        return [refuse(rule, count, (), _SETMAXNREG, f"{target} has no setmaxnreg: it needs sm_90a or later")]
    return require(rule, count, SETMAXNREG, _SETMAXNREG, f"setmaxnreg {count}: a multiple of 8 in 24 … 256")


def _waves(target: Target, count: int) -> list[Violation]:
    rule, cu = "registers.waves-per-eu", multiprocessor(target)
    if target.backend != "hip":
        message = f"{target} has no waves_per_eu: maxnreg bounds the registers there"
        return [refuse(rule, count, (), _WAVES, message)]
    if cu is None:
        return []
    most = cu.warps // cu.partitions
    message = f"waves_per_eu={count}: a SIMD of {target} holds {most} waves"
    return require(rule, count, range(1, most + 1), cu.source, message)


def for_waves(target: Target, waves: int) -> int | None:
    """The most VGPRs a lane with which ``waves`` waves fit on a SIMD (NVIDIA: warps on a partition); None where the
    table does not know the target, or none fits."""
    unit, block = multiprocessor(target), limits(target)
    if unit is None or block is None or waves < 1 or waves > unit.warps // unit.partitions:
        return None
    each = unit.registers // waves // unit.register_granule * unit.register_granule
    return min(each, block.registers)


def accumulator(tile: tuple[int, int], *, num_warps: int, target: Target, tensor_memory: bool | None = None) -> int:
    """Registers a thread that a 32-bit accumulator of BLOCK_M x BLOCK_N takes, rounded up; 0 in tensor memory, where
    tcgen05 (capability 10.x, BLOCK_M of 64 and more) keeps it. ``tensor_memory`` overrides that choice."""
    if tensor_memory is None:
        block = limits(target)
        tensor_memory = block is not None and block.tensor_memory_columns > 0 and tile[0] >= 64
    if tensor_memory:
        return 0
    return -(-tile[0] * tile[1] // (num_warps * target.warp_size))


def _judge(args: Arguments) -> Judgement:
    target, warps = args["target"], args["num_warps"]
    if warps < 1:
        raise InputError("--num-warps: a block has 1 or more")
    options = {name: args.get(name) for name in ("maxnreg", "setmaxnreg", "waves_per_eu")}
    broken = violations(target, num_warps=warps, **options)
    threads = warps * target.warp_size
    steps = register_steps(threads=threads, target=target)
    block = limits(target)
    facts: list[Fact] = []
    notes: list[str] = []
    most = steps[0][1] if steps else None
    if most is not None:
        facts.append(Fact("registers_at_most", most, "registers a thread", f"at most {most}, for {threads} threads"))
    if "maxnreg" in args and not broken:
        used = effective_maxnreg(args["maxnreg"])
        facts.append(Fact("maxnreg_in_force", used, "bound in force"))
        if used != args["maxnreg"]:
            verb = "raises it to" if args["maxnreg"] < _LOWEST else "ignores it, which leaves"
            notes.append(f"ptxas warns of maxnreg={args['maxnreg']} and {verb} {used}.")
        most = min(most, used) if most is not None else used
    if args.get("waves_per_eu") and not broken:
        waves = for_waves(target, args["waves_per_eu"])
        if waves is not None:
            facts.append(Fact("registers_for_waves", waves, "VGPRs a lane for that"))
            most = min(most, waves) if most is not None else waves
    if "tile" in args:
        tile = args["tile"]
        words = accumulator((tile[0], tile[1]), num_warps=warps, target=target) if len(tile) > 1 else 0
        facts += _spills(words, most, notes)
    sources = [_MAXNREG, _SETMAXNREG] if target.backend == "cuda" else [_WAVES]
    if "tile" in args:
        sources.append(_ACCUMULATOR)
    if block is not None:
        sources.append(block.source)
    tables = (steps_table(threads, target),) if steps else ()
    return Judgement(_subject(facts, target, warps), broken, facts, tables, notes=notes, sources=sources)


def _subject(facts: list[Fact], target: Target, warps: int) -> str:
    known = {fact.name: fact.value for fact in facts}
    text = f"{known['registers_at_most']} registers a thread" if "registers_at_most" in known else "no table"
    if "accumulator_registers" in known:
        whole = "of them" if "registers_at_most" in known else "registers a thread of"
        text += f", {known['accumulator_registers']} {whole} accumulator"
        text += f": spills {known['spills']}" if "spills" in known else ""
    return f"{warps} warps on {target}, {text}"


def _spills(words: int, most: int | None, notes: list[str]) -> list[Fact]:
    facts = [Fact("accumulator_registers", words, "accumulator", f"{words} registers a thread" if words else "none")]
    if words == 0:
        notes.append("The accumulator is in tensor memory; the epilogue reads it through registers in parts.")
    if most is not None:
        verdict = "certain" if words >= most else "likely" if 4 * words > 3 * most else "unlikely"
        facts.append(Fact("spills", verdict, "spills"))
    return facts


def _tables(args: Arguments) -> list[RuleTable]:
    rows = []
    for target, row in tabulated():
        unit = multiprocessor(target)
        if unit is None:
            continue
        by_warps = []
        for warps in (4, 8, 16):
            threads = warps * target.warp_size
            steps = register_steps(threads=threads, target=target)
            by_warps.append(str(steps[0][1]) if steps and threads <= row.threads else "-")
        file = unit.registers * unit.partitions * target.warp_size
        rows.append((str(target), str(row.registers), str(file), str(unit.register_granule), *by_warps))
    columns = ("target", "a thread", "an SM", "step", "4 warps", "8 warps", "16 warps")
    sources = (_MAXNREG, _SETMAXNREG, _WAVES, *(row.source for _, row in tabulated()))
    return [RuleTable(TITLE, columns, tuple(rows), sources)]


RULE = LegalityRule(
    "registers",
    TITLE,
    (
        RuleParameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        RuleParameter("num-warps", Syntax.INTEGER, "warps a block", default="4"),
        RuleParameter("tile", Syntax.SHAPE, "accumulator, BLOCK_M x BLOCK_N"),
        RuleParameter("maxnreg", Syntax.INTEGER, "Triton's option maxnreg (NVIDIA)"),
        RuleParameter("setmaxnreg", Syntax.INTEGER, "immediate of setmaxnreg (warp specialization)"),
        RuleParameter("waves-per-eu", Syntax.INTEGER, "Triton's option waves_per_eu (AMD); 0 leaves it to LLVM"),
    ),
    _judge,
    _tables,
    (
        "--tile 128x256 --num-warps 4",
        "--maxnreg 168 --num-warps 16",
        "--setmaxnreg 232",
        "--setmaxnreg 100",
        "--tile 256x256 --num-warps 4 --waves-per-eu 2 --target hip:gfx942",
    ),
    (),
)
