"""Why the front end refused a tile: its sizes, the parameters that they come from, and the command that explains it."""

from collections.abc import Sequence

from triage.legality import dot, dtypes
from triage.legality.dtypes import DType
from triage.legality.tma.tensor_map import UNIT
from triage.model.case import Case
from triage.model.outcome import Operand

_MOST_REASONS = 3
"""Notes for one refusal: a type that is wrong breaks several rules at once."""


def arithmetic(operation: str, operands: Sequence[Operand], case: Case, triton: str | None) -> list[str]:
    """Notes on a refused operation of the language; empty where its sizes and types are not the reason."""
    named = {operand.name: operand for operand in operands}
    match operation:
        case "dot":
            return _dot(named, case, triton)
        case "make_tensor_descriptor":
            return _descriptor(named, case)
    return []


def _dot(named: dict[str, Operand], case: Case, triton: str | None) -> list[str]:
    lhs, rhs, acc = (named.get(name) for name in ("lhs", "rhs", "acc"))
    if lhs is None or rhs is None or min(len(lhs.shape), len(rhs.shape)) < 2:
        return []
    a, b, into = dtypes.find(lhs.type), dtypes.find(rhs.type), dtypes.find(acc.type) if acc else None
    m, k, n = *lhs.shape[-2:], rhs.shape[-1]
    if a is None or b is None or rhs.shape[-2] != k:
        return []
    batch = lhs.shape[0] if len(lhs.shape) > 2 else None
    broken = dot.violations(m=m, n=n, k=k, a=a, b=b, acc=into, batch=batch, target=case.target, triton=triton)
    if not broken and into is None:
        return []
    wrong = {violation.parameter for violation in broken}
    sizes = [
        f"{name.upper()} = {size}{_parameters(size, case) if name in wrong else ''}"
        for name, size in (("m", m), ("n", n), ("k", k))
    ]
    options = {"b": b if b != a else None, "acc": into, "batch": batch, "target": case.target, "triton": triton}
    stated = " ".join(f"--{name} {value}" for name, value in options.items() if value is not None)
    return [
        *([f"tl.dot of {', '.join(sizes)}"] if wrong & {"m", "n", "k"} else ()),
        *(violation.message for violation in broken[:_MOST_REASONS]),
        f"explained by: triage explain dot --m {m} --n {n} --k {k} --a {a} {stated}",
    ]


def _descriptor(named: dict[str, Operand], case: Case) -> list[str]:
    base, block = named.get("base"), named.get("block_shape")
    element = _pointee(base) if base else None
    if element is None or block is None or not block.shape:
        return []
    columns, bits = block.shape[-1], element.bits
    if columns * bits >= UNIT * 8:
        return []
    row = f"{columns}{_parameters(columns, case)} x {bits} bits of {element} = {columns * bits // 8} B"
    return [
        f"a row of the block is {row}, and a descriptor takes {UNIT} B or more: {UNIT * 8 // bits} elements",
        f"explained by: triage explain tma --dtype {element} --box {'x'.join(map(str, block.shape))}",
    ]


def _pointee(base: Operand) -> DType | None:
    return dtypes.find(base.type.removeprefix("pointer<").removesuffix(">"))


def _parameters(size: int, case: Case) -> str:
    """The compile-time arguments that have this value, in brackets."""
    names = [name for name, value in case.constexprs.items() if value == size and not isinstance(value, bool)]
    return f" ({' or '.join(names)})" if names else ""
