"""Judgements and tables of the rules ``mfma`` and ``wmma``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from triage.legality.amd.instruction import AmdInstruction
from triage.legality.explanation import Fact, RuleTable
from triage.legality.rule import Given, Judgement, Parameter, Syntax
from triage.legality.violation import Violation
from triage.model.target import Target

Registers = Callable[[AmdInstruction], tuple[int, int, int]]

PARAMETERS = (
    Parameter("a", Syntax.DTYPE, "type of A", required=True),
    Parameter("b", Syntax.DTYPE, "type of B; A's where it is left out"),
    Parameter("d", Syntax.DTYPE, "type of the accumulator; any where it is left out"),
    Parameter("m", Syntax.INTEGER, "rows of A and of D", required=True),
    Parameter("n", Syntax.INTEGER, "columns of B and of D", required=True),
    Parameter("k", Syntax.INTEGER, "columns of A, rows of B", required=True),
    Parameter("sparse", Syntax.FLAG, "A is 4:2 sparse along K"),
    Parameter("scaled", Syntax.FLAG, "A and B carry block scales"),
)


def asked(given: Given) -> dict[str, Any]:
    """The arguments of ``violations`` among the parameters."""
    return {name: value for name, value in given.items() if name != "target"}


def judgement(
    given: Given, broken: Sequence[Violation], instruction: AmdInstruction | None, registers: Registers
) -> Judgement:
    """Verdict and numbers of one instruction, or of none that there is."""
    name = instruction.mnemonic if instruction else f"{given['m']}x{given['n']}x{given['k']} of {given['a']}"
    return Judgement(
        f"{name} on {given['target']}",
        broken,
        () if instruction is None else _facts(instruction, registers),
        notes=() if broken or instruction else (f"nothing is known about {given['target']}",),
    )


def _facts(row: AmdInstruction, registers: Registers) -> tuple[Fact, ...]:
    a, b, d = registers(row)
    return (
        Fact("mnemonic", row.mnemonic, "instruction"),
        Fact("accumulator", row.d, "accumulator"),
        Fact("blocks", row.blocks, "blocks"),
        Fact("registers", {"a": a, "b": b, "d": d}, "registers", f"A {a}, B {b}, D {d} of 32 bits a lane"),
        Fact("multiply_adds", row.multiply_adds, "multiply-adds"),
    )


def table(
    target: Target, rows: Iterable[AmdInstruction], registers: Callable[[AmdInstruction, Target], tuple[int, int, int]]
) -> RuleTable:
    """The instructions of a target, one line a name."""
    lines: dict[str, tuple[str, ...]] = {}
    for row in rows:
        shape = f"{row.m}x{row.n}x{row.k}" + (f" x{row.blocks}" if row.blocks > 1 else "")
        types = row.a if row.a == row.b else f"{row.a} x {row.b}"
        if row.mnemonic in lines:
            types = "any two" if "f8f6f4" in row.mnemonic else lines[row.mnemonic][1]
        used = " ".join(map(str, registers(row, target)))
        first = lines.get(row.mnemonic)
        lines[row.mnemonic] = (row.mnemonic, types, row.d, shape, first[-1] if first else used)
    columns = ("instruction", "A x B", "D", "MxNxK", "registers A B D")
    return RuleTable(str(target), columns, tuple(lines.values()))
