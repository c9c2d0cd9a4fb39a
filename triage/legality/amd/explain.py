"""What ``triage explain mfma`` and ``wmma`` show: the instruction, its registers and work, or what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triage.legality.amd.instruction import Instruction
from triage.legality.dtypes import DType
from triage.legality.explanation import Explanation, Fact, Table
from triage.legality.rule import Form, Given, Parameter
from triage.legality.violation import Violation
from triage.model.target import Target

Registers = Callable[[Instruction], tuple[int, int, int]]

PARAMETERS = (
    Parameter("a", Form.DTYPE, "type of A", required=True),
    Parameter("b", Form.DTYPE, "type of B; A's where it is left out"),
    Parameter("d", Form.DTYPE, "type of the accumulator; any where it is left out"),
    Parameter("m", Form.INTEGER, "rows of A and of D", required=True),
    Parameter("n", Form.INTEGER, "columns of B and of D", required=True),
    Parameter("k", Form.INTEGER, "columns of A, rows of B", required=True),
    Parameter("sparse", Form.FLAG, "A is 4:2 sparse along K"),
    Parameter("scaled", Form.FLAG, "A and B carry block scales"),
)


def asked(given: Given) -> dict[str, Any]:
    """The arguments of ``violations`` among the parameters."""
    return {name: value for name, value in given.items() if name != "target"}


def answer(
    rule: str,
    title: str,
    given: Given,
    found: Iterable[Violation],
    instruction: Instruction | None,
    registers: Registers,
    source: str,
) -> Explanation:
    """Verdict and numbers for one wish."""
    violations = tuple(found)
    verdict = "illegal" if violations else "legal"
    name = instruction.mnemonic if instruction else f"{given['m']}x{given['n']}x{given['k']} of {given['a']}"
    return Explanation(
        rule,
        title,
        f"{verdict}: {name} on {given['target']}",
        _shown(given),
        not violations,
        violations,
        () if instruction is None else _facts(instruction, registers),
        notes=() if violations or instruction else (f"nothing is known about {given['target']}",),
        sources=(source,),
    )


def listing(
    rule: str,
    title: str,
    targets: Mapping[Target, Iterable[Instruction]],
    registers: Callable[[Instruction, Target], tuple[int, int, int]],
    source: str,
) -> Explanation:
    """The instructions of each target, one line a name."""
    tables = tuple(_table(target, rows, registers) for target, rows in targets.items())
    return Explanation(rule, title, title, tables=tables, sources=(source,))


def _facts(row: Instruction, registers: Registers) -> tuple[Fact, ...]:
    a, b, d = registers(row)
    return (
        Fact("mnemonic", row.mnemonic, "instruction"),
        Fact("accumulator", row.d, "accumulator"),
        Fact("blocks", row.blocks, "blocks"),
        Fact("registers", {"a": a, "b": b, "d": d}, "registers", f"A {a}, B {b}, D {d} of 32 bits a lane"),
        Fact("multiply_adds", row.multiply_adds, "multiply-adds"),
    )


def _table(
    target: Target, rows: Iterable[Instruction], registers: Callable[[Instruction, Target], tuple[int, int, int]]
) -> Table:
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
    return Table(str(target), columns, tuple(lines.values()))


def _shown(given: Given) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, DType | Target) else value for name, value in given.items()}
