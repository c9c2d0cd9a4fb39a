"""What the rules ``mfma`` and ``wmma`` share: their parameters, judgements and tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from triage.legality.amd.instruction import AmdInstruction, Specification, has_instead, known, matching, why_not
from triage.legality.explanation import Fact, RuleTable
from triage.legality.rule import Arguments, Judgement, RuleParameter, Syntax
from triage.legality.violation import Violation, refuse
from triage.model.target import Target

PARAMETERS = (
    RuleParameter("a", Syntax.DTYPE, "type of A", required=True),
    RuleParameter("b", Syntax.DTYPE, "type of B; A's where it is left out"),
    RuleParameter("d", Syntax.DTYPE, "type of the accumulator; any where it is left out"),
    RuleParameter("m", Syntax.INTEGER, "rows of A and of D", required=True),
    RuleParameter("n", Syntax.INTEGER, "columns of B and of D", required=True),
    RuleParameter("k", Syntax.INTEGER, "columns of A, rows of B", required=True),
    RuleParameter("sparse", Syntax.FLAG, "A is 4:2 sparse along K"),
    RuleParameter("scaled", Syntax.FLAG, "A and B carry block scales"),
)


@dataclass(frozen=True, slots=True)
class InstructionFamily:
    """MFMA or WMMA: the instructions of each target, and the registers a lane of A, B and D. A violation of the target
    names ``examples``, and of these ``nearest`` as the closest."""

    name: str
    instructions: Callable[[Target], tuple[AmdInstruction, ...]]
    registers: Callable[[AmdInstruction, Target], tuple[int, int, int]]
    examples: tuple[str, ...]
    nearest: tuple[str, ...]
    source: str

    def find(self, *, target: Target, **wanted: Any) -> AmdInstruction | None:
        """The instruction that a target has for a ``Specification``, or None."""
        return next(iter(matching(self.instructions(target), Specification.of(**wanted))), None)

    def violations(self, *, target: Target, **wanted: Any) -> list[Violation]:
        """Why a target has no instruction that meets a ``Specification`` (shape in elements); empty where it has one,
        or where nothing is known about the target."""
        rows = self.instructions(target)
        if rows:
            return why_not(self.name, rows, Specification.of(**wanted), target.arch, self.source)
        if not known(target):
            return []
        message = f"{target} has no {self.name.upper()} instructions{has_instead(target)}"
        return [refuse(f"{self.name}.target", str(target), self.examples, self.source, message, self.nearest)]

    def judge(self, args: Arguments) -> Judgement:
        """Verdict and numbers of one instruction, or of none that there is."""
        target = args["target"]
        row, broken = self.find(**args), self.violations(**args)
        facts: tuple[Fact, ...] = ()
        if row is not None:
            a, b, d = self.registers(row, target)
            facts = (
                Fact("mnemonic", row.mnemonic, "instruction"),
                Fact("accumulator", row.d, "accumulator"),
                Fact("blocks", row.blocks, "blocks"),
                Fact("registers", {"a": a, "b": b, "d": d}, "registers", f"A {a}, B {b}, D {d} of 32 bits a lane"),
                Fact("multiply_adds", row.multiply_adds, "multiply-adds"),
            )
        name = row.mnemonic if row else f"{args['m']}x{args['n']}x{args['k']} of {args['a']}"
        notes = () if broken or row else (f"nothing is known about {target}",)
        return Judgement(f"{name} on {target}", broken, facts, notes=notes)

    def tables(self, args: Arguments) -> list[RuleTable]:
        """The instructions of a target, one line a name."""
        target = args["target"]
        lines: dict[str, tuple[str, ...]] = {}
        for row in self.instructions(target):
            shape = f"{row.m}x{row.n}x{row.k}" + (f" x{row.blocks}" if row.blocks > 1 else "")
            types = row.a if row.a == row.b else f"{row.a} x {row.b}"
            if row.mnemonic in lines:
                types = "any two" if "f8f6f4" in row.mnemonic else lines[row.mnemonic][1]
            used = " ".join(map(str, self.registers(row, target)))
            first = lines.get(row.mnemonic)
            lines[row.mnemonic] = (row.mnemonic, types, row.d, shape, first[-1] if first else used)
        columns = ("instruction", "A x B", "D", "MxNxK", "registers A B D")
        return [RuleTable(str(target), columns, tuple(lines.values()))]
