"""MFMA and WMMA against LLVM's assembler: every mnemonic that it knows, on every gfx that it knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import amd_assembler
import pytest
from rows import each_row

from triage.legality.amd import mfma, wmma
from triage.legality.amd.instruction import AmdInstruction
from triage.legality.dtypes import parse
from triage.model.target import Target

GFX = (
    *("gfx600", "gfx803", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a"),
    *("gfx90c", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030", "gfx1031"),
    *("gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103"),
    *("gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1154", "gfx1170", "gfx1171", "gfx1172", "gfx1200"),
    *("gfx1201", "gfx1250", "gfx1251", "gfx1310"),
)
MFMA, WMMA = ("gfx908", "gfx90a", "gfx942", "gfx950"), ("gfx1100", "gfx1170", "gfx1200", "gfx1250", "gfx1251")
FORMATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
FORMAT_NAMES = dict(zip(FORMATS, ("FP8", "BF8", "FP6", "BF6", "FP4"), strict=True))
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32)
NAME = re.compile(
    r"v_(?P<stem>mfma|smfmac|wmma|swmmac)_(?P<scale>scale(?:16)?_)?(?P<d>[a-z]+\d+)(?P<c>f32)?_"
    r"(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_?(?:\d+b_)?(?P<types>[a-z]\w+?)(?:_1k)?\Z"
)
TYPES = {"i8": ("s8",), "i32": ("s32",), "xf32": ("tf32",), "iu8": ("s8", "u8"), "iu4": ("s4", "u4"), "f4": ("e2m1",)}


class Shape(NamedTuple):
    """An instruction as the assembler sees it, whatever it is called."""

    a: str
    b: str
    c: str
    d: str
    m: int
    n: int
    k: int
    blocks: int
    sparse: bool
    scaled: bool


class Written(NamedTuple):
    """A line: its mnemonic, the registers of A, B and D, and the formats of an f8f6f4."""

    mnemonic: str
    registers: tuple[int, int, int]
    formats: tuple[str, str] | None


def rows(arch: str) -> tuple[AmdInstruction, ...]:
    target = Target("hip", arch)
    return mfma.instructions(target) + wmma.instructions(target)


def registers(row: AmdInstruction, arch: str) -> tuple[int, int, int]:
    return (mfma if arch in MFMA else wmma).registers(row, Target("hip", arch))


def shape(row: AmdInstruction) -> Shape:
    kind = (row.m, row.n, row.k, row.blocks, row.sparse, row.scaled)
    return Shape(row.a, row.b, row.c, row.d, *kind)


def written(row: AmdInstruction, arch: str) -> Written:
    mixed = "f8f6f4" in row.mnemonic
    return Written(row.mnemonic, registers(row, arch), (row.a, row.b) if mixed else None)


def line(one: Written, arch: str) -> str:
    """As the assembler reads it. gfx908 accumulates in its accumulation registers alone."""
    found = NAME.match(one.mnemonic)
    assert found, one.mnemonic
    a, b, d = one.registers
    read = d
    if found["c"] and found["stem"] == "wmma":  # reads a wider accumulator than it writes
        read = 2 * d
    bank = "a" if arch == "gfx908" else "v"
    parts = [_range(bank, 0, d), _range("v", 64, a), _range("v", 96, b)]
    if found["stem"] in ("smfmac", "swmmac"):
        # Two bits say where each of two kept elements of four was: K bits for each of the 16 rows of a wave.
        wide = found["stem"] == "swmmac" and int(found["k"]) == 128
        parts.append(_range("v", 128, 2 if wide else 1))
    else:
        parts.append(_range(bank, 0 if read == d else 32, read))
    if found["scale"]:
        size = 2 if found["scale"] == "scale16_" else 1
        parts += [_range("v", 130, size), _range("v", 132, size)]
    text = f"{one.mnemonic} {', '.join(parts)}"
    if one.formats is None:
        return text
    if found["stem"] == "mfma":
        first, second = (FORMATS.index(name) for name in one.formats)
        return f"{text} cbsz:{first} blgp:{second}"
    first, second = (f"MATRIX_FMT_{FORMAT_NAMES[name]}" for name in one.formats)
    return f"{text} matrix_a_fmt:{first} matrix_b_fmt:{second}"


def _range(bank: str, start: int, count: int) -> str:
    return f"{bank}{start}" if count == 1 else f"{bank}[{start}:{start + count - 1}]"


def read(one: Written, arch: str) -> set[Shape]:
    """What a line asks for, from its name and registers alone, the way the ISA guides name things."""
    found = NAME.match(one.mnemonic)
    assert found
    m, n, k = (int(found[name]) for name in "mnk")
    d = TYPES.get(found["d"], (found["d"],))[0]
    lanes, sparse = (64 if found["stem"] in ("mfma", "smfmac") else 32), found["stem"] in ("smfmac", "swmmac")
    # As many blocks as the accumulator has room for.
    blocks = one.registers[2] * 32 * lanes // (m * n * parse(d).bits) if found["stem"] == "mfma" else 1
    types = found["types"]
    if one.formats:
        pairs = [one.formats]
    elif types in ("fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"):
        kinds = {"fp8": "e4m3", "bf8": "e5m2"}
        fnuz = "fnuz" if arch == "gfx942" else ""
        pairs = [tuple(kinds[part] + fnuz for part in types.split("_"))]
    else:
        names = TYPES.get(types, (types,))
        pairs = list(product(names, repeat=2))
    return {Shape(a, b, found["c"] or d, d, m, n, k, blocks, sparse, bool(found["scale"])) for a, b in pairs}


def everything() -> Iterator[Written]:
    """Every mnemonic with every set of registers that an instruction of its types and shape has on any gfx."""
    by_kind: dict[tuple[str, ...], set[tuple[tuple[int, int, int], tuple[str, str] | None]]] = {}
    for arch in (*MFMA, *WMMA):
        for row in rows(arch):
            one = written(row, arch)
            by_kind.setdefault(_kind(one.mnemonic), set()).add((one.registers, one.formats))
    for mnemonic in amd_assembler.mnemonics():
        for used, formats in by_kind[_kind(mnemonic)]:
            yield Written(mnemonic, used, formats)


def _kind(mnemonic: str) -> tuple[str, ...]:
    found = NAME.match(mnemonic)
    assert found, mnemonic
    return tuple(str(found[name]) for name in ("stem", "scale", "d", "c", "m", "n", "k", "types"))


def accepted(lines: dict[str, dict[Written, str]]) -> dict[str, set[Written]]:
    found = amd_assembler.rejected({arch: list(of.values()) for arch, of in lines.items()})
    kept = {}
    for arch, of in lines.items():
        refused = found[arch]
        assert refused is not None, f"{arch} is not known to this LLVM"
        kept[arch] = {one for one, text in of.items() if text not in refused}
    return kept


@cache
def assembled() -> dict[str, set[Written]]:
    listed = list(everything())
    return accepted({arch: {one: line(one, arch) for one in listed} for arch in GFX})


@each_row(GFX)
def test_the_assembler_has_exactly_the_tables_instructions(arch: str) -> None:
    taken = assembled()[arch]
    assert {written(row, arch) for row in rows(arch)} <= taken
    asked = set[Shape]().union(*(read(one, arch) for one in taken))
    assert asked == {shape(row) for row in rows(arch)}


def test_every_table_is_covered() -> None:
    names = {row.mnemonic for arch in (*MFMA, *WMMA) for row in rows(arch)}
    assert names <= set(amd_assembler.mnemonics())
    kin = {"gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1154", "gfx1171", "gfx1172"}
    assert {arch for arch in GFX if rows(arch)} == {*MFMA, *WMMA, *kin, "gfx1201"}
    assert [shape(row) for row in rows("gfx940")] == [shape(row) for row in rows("gfx942")]


@pytest.mark.slow
@pytest.mark.parametrize("arch", [*MFMA, *WMMA])
def test_no_other_registers_fit(arch: str) -> None:
    names = sorted({(one.mnemonic, one.formats) for one in everything()}, key=str)
    listed = [Written(name, used, formats) for name, formats in names for used in product(SIZES, repeat=3)]
    taken = accepted({arch: {one: line(one, arch) for one in listed}})[arch]
    assert {written(row, arch) for row in rows(arch)} <= taken
    assert set[Shape]().union(*(read(one, arch) for one in taken)) == {shape(row) for row in rows(arch)}
    assert len({(one.mnemonic, one.formats) for one in taken}) == len(taken)


NUMBERS = [(m, n, k) for m, n in ((16, 16), (32, 32), (4, 4), (32, 16), (8, 8)) for k in (1, 2, 4, 8, 16, 32, 64, 128)]


@pytest.mark.parametrize(
    ("arch", "step"),
    [
        *((arch, 19) for arch in (*MFMA, *WMMA)),
        *(pytest.param(arch, 1, marks=pytest.mark.slow) for arch in (*MFMA, *WMMA)),
    ],
)
def test_violations_agree_with_the_tables_over_their_neighbourhood(arch: str, step: int) -> None:
    module = mfma if arch in MFMA else wmma
    legal = {shape(row)._replace(c="") for row in rows(arch)}
    names = sorted({name for each in (*MFMA, *WMMA) for row in rows(each) for name in (row.a, row.b)})
    pairs = [(a, b) for a in names for b in {a, "e5m2", "f16"}]
    checked = 0
    asked = list(product(pairs, NUMBERS, (False, True), (False, True)))[::step]
    for (a, b), (m, n, k), sparse, scaled in asked:
        for d, blocks in product(("f32", "f16", "s32"), (1, 4) if module is mfma else (1,)):
            extra = {"blocks": blocks} if module is mfma else {}
            found = module.violations(
                a=parse(a), b=parse(b), d=parse(d), m=m, n=n, k=k, target=Target("hip", arch),
                sparse=sparse, scaled=scaled, **extra,
            )  # fmt: skip
            assert (found == []) == (Shape(a, b, "", d, m, n, k, blocks, sparse, scaled) in legal), (a, b, d, m, n, k)
            for violation in found:
                assert set(violation.nearest) <= set(violation.allowed)
                assert violation.given not in violation.allowed
            checked += 1
    assert checked > 900


@pytest.mark.parametrize(
    ("arch", "asked", "rule", "nearest"),
    [
        ("gfx90a", {"a": "f16", "m": 32, "n": 32, "k": 16}, "mfma.k", (8,)),
        ("gfx950", {"a": "f16", "m": 32, "n": 32, "k": 32}, "mfma.k", (16,)),
        ("gfx950", {"a": "tf32", "m": 32, "n": 32, "k": 4}, "mfma.a", ("f32", "f16")),
        ("gfx942", {"a": "e4m3", "m": 32, "n": 32, "k": 16}, "mfma.a", ("e4m3fnuz", "e5m2fnuz")),
        ("gfx950", {"a": "u8", "m": 32, "n": 32, "k": 16}, "mfma.a", ("s8",)),
        ("gfx942", {"a": "f16", "d": "f16", "m": 32, "n": 32, "k": 8}, "mfma.d", ("f32",)),
        ("gfx942", {"a": "f16", "m": 16, "n": 16, "k": 16, "scaled": True}, "mfma.scaled", (False,)),
        ("gfx90a", {"a": "f16", "m": 16, "n": 16, "k": 32, "sparse": True}, "mfma.sparse", (False,)),
        ("gfx942", {"a": "f16", "m": 64, "n": 64, "k": 4}, "mfma.shape", ((32, 32, 8), (16, 16, 16))),
        ("gfx942", {"a": "f16", "m": 16, "n": 16, "k": 4}, "mfma.k", (16,)),
        ("gfx1100", {"a": "f16", "m": 16, "n": 16, "k": 16}, "mfma.target", ("hip:gfx942", "hip:gfx950")),
    ],
)
def test_what_is_wrong_is_named(arch: str, asked: dict[str, object], rule: str, nearest: tuple[object, ...]) -> None:
    typed = {name: parse(str(value)) if name in "abd" else value for name, value in asked.items()}
    [violation] = mfma.violations(target=Target("hip", arch), **typed)  # type: ignore[arg-type]
    assert (violation.rule, violation.nearest) == (rule, nearest)


def test_a_target_that_is_not_known_is_not_judged() -> None:
    for module in (mfma, wmma):
        assert module.violations(a=parse("f16"), m=1, n=1, k=1, target=Target("hip", "gfx1999")) == []
        assert module.violations(a=parse("f16"), m=16, n=16, k=16, target=Target("cuda", "90")) != []
