"""Constraints of ``tl.dot``: smallest tile, operand and accumulator types, ``input_precision``, by target and release.

The front end checks all of it (``semantic.dot`` in triton/language/semantic.py, ``min_dot_size`` and the options in
triton/backends/{nvidia,amd}/compiler.py), before any pass runs. Where releases differ, or code and intention:

- Up to 3.2 every one of M, N, K is 16 or more (3.2 on gfx9: K of 8). 3.0 and 3.1 want K of 32 for int8, but look at
  the second dimension, which in a batched dot is M. 3.2 meant to ask N of 32 (NVIDIA) or K of 16 (gfx94x) of int8,
  and tests a block type that is never int8: it asks neither.
- 3.3 drops the minimum on AMD: what has no matrix instruction becomes multiply-adds. NVIDIA asks K of 32 for 8-bit
  operands from 3.3 on, drops the minimum of M and N in 3.5, and halves (fp32: 8) and quarters (fp64: 4) K in 3.8.
- fp8e4b15 is converted to fp16 before the minimum is looked up.
- 3.5 stopped comparing the accumulator with the result: an accumulator of the wrong type passes ``tl.dot`` itself and
  fails where the result is used, or in a pass ("PassManager::run failed"). ``violations`` refuses it on every release.
  An fp8 or int8 accumulator is refused too, and int32 for floats; AMD compiles some of those.
- Up to 3.7 ``out_dtype`` is float32 unless given, whatever the accumulator is; from 3.8 on it is the accumulator's.
"""

from triage.legality import dtypes, fp8
from triage.legality.amd import tile
from triage.legality.amd.instruction import known
from triage.legality.dtypes import DType
from triage.legality.explanation import Fact, RuleTable
from triage.legality.language import MAX_NUMEL
from triage.legality.release import NEWEST, Series, series
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, powers, refuse, spoken
from triage.model.gpus import MAX_THREADS
from triage.model.target import Target

SOURCE = "triton/language/semantic.py: dot; triton/backends/{nvidia,amd}/compiler.py: min_dot_size"
_OPTIONS = "triton/backends/{nvidia,amd}/compiler.py: allowed_dot_input_precisions"
_WARPS = "triton/backends/{nvidia,amd}/compiler.py: num_warps must be a power of 2"
TITLE = "tl.dot: smallest tiles, operand types, accumulators, input_precision"

_POWER_OF_TWO = "every dimension of a tile is a power of two"
_ACCUMULATORS = {"f16": ("f32", "f16"), "bf16": ("f32",), "f32": ("f32",), "f64": ("f64",), "s8": ("s32",)}
_ERAS: tuple[Series, ...] = ((3, 0), (3, 2), (3, 3), (3, 5), (3, 8))
"""First releases with minimum shapes of their own."""


def smallest(*, a: DType, b: DType | None = None, target: Target, triton: str | None = None) -> tuple[int, int, int]:
    """The smallest M, N and K of a dot that is not batched, in elements."""
    number, types = series(triton), {a.name, (b or a).name}
    bits = 16 if "e4m3b15" in types else a.bits
    if number < (3, 2):
        return 16, 16, 32 if types == {"s8"} else 16
    if number < (3, 3):
        return 16, 16, 8 if "gfx9" in target.arch else 16
    if target.backend == "hip":
        return 1, 1, 1
    least = 16 if number < (3, 5) else 1
    if number >= (3, 8):
        return least, least, {8: 32, 32: 8, 64: 4}.get(bits, 16)
    return least, least, 32 if bits == 8 else 16


def partners(a: DType, target: Target, triton: str | None = None) -> tuple[str, ...]:
    """The types that ``b`` may have beside ``a``; empty where ``a`` is not an operand at all."""
    number = series(triton)
    floats = _eight_bit_floats(target, number)
    if a.name in floats:
        return floats
    wide = number >= (3, 5) or (number < (3, 2) and (target.capability or 0) < 89)
    return (a.name,) if a.name in ("f16", "bf16", "f32", "s8") or (wide and a.name == "f64") else ()


def operands(target: Target, triton: str | None = None) -> tuple[str, ...]:
    """Every type that an operand may have."""
    names = ("f16", "bf16", "f32", "f64", "s8")
    plain = tuple(name for name in names if partners(dtypes.parse(name), target, triton))
    return (*plain, *_eight_bit_floats(target, series(triton)))


def accumulators(a: DType) -> tuple[str, ...]:
    """The types that the accumulator may have beside operands like ``a``, the usual one first."""
    return _ACCUMULATORS["f16"] if a.name in fp8.NAMES else _ACCUMULATORS.get(a.name, ())


def precisions(target: Target, triton: str | None = None) -> tuple[str, ...]:
    """The values of ``input_precision``, in Triton's order; checked for every operand type, used for fp32 alone."""
    number = series(triton)
    split = ("bf16x3", "bf16x6") if number >= (3, 6) else ()
    if target.backend == "cuda":
        return ("tf32", "tf32x3", "ieee", *split)
    xf32 = ("gfx942",) if number >= (3, 5) else ("gfx940", "gfx941", "gfx942")
    return (*(("tf32",) if number >= (3, 3) and target.arch in xf32 else ()), "ieee", *split)


def violations(
    *,
    m: int,
    n: int,
    k: int,
    a: DType,
    b: DType | None = None,
    acc: DType | None = None,
    target: Target,
    triton: str | None = None,
    num_warps: int = 4,
    input_precision: str | None = None,
    batch: int | None = None,
) -> list[Violation]:
    """Violations of ``tl.dot`` of [M, K] and [K, N] tiles (with ``batch`` in front where it is given).

    ``b`` is as ``a`` where it is left out; ``acc`` is the type of an accumulator that is given (with ``out_dtype``
    equal to it). ``triton`` is a release, the newest where it is left out. Raises InputError for a bad release.
    """
    b = b or a
    sizes = {"m": m, "n": n, "k": k} | ({} if batch is None else {"batch": batch})
    broken = [
        refuse(f"dot.{name}", size, powers(MAX_NUMEL), SOURCE, f"{name} is {size}: {_POWER_OF_TWO}")
        for name, size in sizes.items()
        if size < 1 or size & (size - 1)
    ]
    broken += _types(a, b, acc, target, triton)
    if not any(violation.parameter in ("a", "b") for violation in broken):
        broken += _too_small(m, n, k, a, b, target, triton, batch)
    broken += _too_large(m, n, k, batch or 1)
    allowed = precisions(target, triton)
    if input_precision is not None and input_precision.lower() not in allowed:
        message = f"input_precision {input_precision!r} on {target}: {spoken(allowed)}"
        close = tuple(value for value in allowed if value[:2] == input_precision[:2].lower())[:2] or allowed[:1]
        broken.append(refuse("dot.input-precision", input_precision, allowed, _OPTIONS, message, close))
    if num_warps < 1 or num_warps & (num_warps - 1):
        counts = powers(MAX_THREADS // target.warp_size)
        message = f"num_warps={num_warps} is not a power of two"
        broken.append(refuse("dot.num-warps", num_warps, counts, _WARPS, message))
    return broken


def _eight_bit_floats(target: Target, number: Series) -> tuple[str, ...]:
    if number >= (3, 2):
        supported = fp8.supported(target, number)
        return tuple(name for name in fp8.NAMES if name in supported)
    capability = target.capability
    if capability is None:
        return ("e5m2", "e4m3fnuz", "e5m2fnuz")
    if capability < 89:
        return ("e5m2", "e4m3fnuz", "e5m2fnuz", "e4m3b15")
    return ("e4m3", "e5m2", "e4m3b15") if capability < 90 else ("e4m3", "e5m2")


def _types(a: DType, b: DType, acc: DType | None, target: Target, triton: str | None) -> list[Violation]:
    beside = partners(a, target, triton)
    where = f"{target}, Triton {'.'.join(map(str, series(triton)))}"
    if not beside:
        allowed = operands(target, triton)
        close = _closest(a, allowed)
        message = f"tl.dot on {where} takes no {a} operand: {spoken(allowed)}"
        return [refuse("dot.a", a.name, allowed, SOURCE, message, close)]
    if b.name not in beside:
        message = f"tl.dot on {where} does not multiply {a} with {b}: b is {spoken(beside)}"
        return [refuse("dot.b", b.name, beside, SOURCE, message)]
    wide = accumulators(a)
    if acc is not None and acc.name not in wide:
        message = f"tl.dot of {a} accumulates in {spoken(wide)}, not in {acc}: cast the result"
        return [refuse("dot.acc", acc.name, wide, SOURCE, message)]
    return []


def _closest(a: DType, names: tuple[str, ...]) -> tuple[str, ...]:
    """Another fp8 (or fp16) for an fp8, the one integer for an integer, fp32 or fp16 for any other float."""
    if a.name in fp8.NAMES:
        return (*tuple(name for name in names if name in fp8.NAMES)[:1], "f16")
    if a.name[0] in "sub" and a.name != "bf16":
        return ("s8",)
    return ("f32",) if a.bits >= 32 else ("f16",)


def _too_small(
    m: int, n: int, k: int, a: DType, b: DType, target: Target, triton: str | None, batch: int | None
) -> list[Violation]:
    least = dict(zip("mnk", smallest(a=a, b=b, target=target, triton=triton), strict=True))
    if batch is not None and series(triton) < (3, 2) and a.name == "s8":
        least |= {"m": 32, "k": 16}
    broken = []
    for name, size in (("m", m), ("n", n), ("k", k)):
        if 0 < size < least[name] and not size & (size - 1):
            allowed = powers(MAX_NUMEL, least[name])
            release = ".".join(map(str, series(triton)))
            message = f"{name} is {size}: tl.dot of {a} on {target} takes {least[name]} or more in Triton {release}"
            broken.append(refuse(f"dot.{name}", size, allowed, SOURCE, message, allowed[:1]))
    return broken


def _too_large(m: int, n: int, k: int, batch: int) -> list[Violation]:
    for first, rows, second, columns in (("m", m, "k", k), ("k", k, "n", n), ("m", m, "n", n)):
        if batch * rows * columns > MAX_NUMEL:
            allowed = powers(MAX_NUMEL // max(1, batch * columns))
            message = f"a tile of {first} x {second} has {batch * rows * columns} elements: at most {MAX_NUMEL}"
            return [refuse("dot.numel", rows, allowed, SOURCE, message, allowed[-1:], parameter=first)]
    return []


def _judge(args: Arguments) -> Judgement:
    target, triton, a = args["target"], args.get("triton"), args["a"]
    asked = {name: args[name] for name in _ASKED if name in args}
    m, n, k = smallest(a=a, b=args.get("b"), target=target, triton=triton)
    release = ".".join(map(str, series(triton)))
    beside, wide, allowed = partners(a, target, triton), accumulators(a), precisions(target, triton)
    facts = [
        Fact("min_m", m, "M, at least"),
        Fact("min_n", n, "N, at least"),
        Fact("min_k", k, "K, at least"),
        Fact("b_types", list(beside), "b may be", spoken(beside) or "nothing"),
        Fact("accumulators", list(wide), "accumulator", spoken(wide) or "none"),
        Fact("input_precisions", list(allowed), "precision", spoken(allowed)),
    ]
    if target.backend == "hip":
        facts += _instruction(args)
    notes = []
    acc = args.get("acc")
    if acc is not None and acc.name in (*wide[1:], "f64", "s32") and series(triton) < (3, 8):
        notes.append("Up to 3.7 out_dtype is float32 unless given: pass out_dtype as the accumulator's type too.")
    return Judgement(
        f"tl.dot of {args['m']}x{args['n']}x{args['k']} {a} on {target}, Triton {release}",
        violations(target=target, triton=triton, **asked),
        facts,
        notes=notes,
        resolved={"triton": release},
    )


def _instruction(args: Arguments) -> list[Fact]:
    """The instruction that the newest Triton makes of the tile on AMD."""
    target, a = args["target"], args["a"]
    multiplied = dtypes.parse("tf32") if a.name == "f32" and args.get("input_precision") == "tf32" else a
    if args.get("b", a) != a or not known(target):
        return []
    row = tile.chosen(m=args["m"], n=args["n"], k=args["k"], a=multiplied, target=target)
    name = row.mnemonic if row else None
    return [Fact("matrix_instruction", name, "instruction", name or "none: scalar multiply-adds")]


_ASKED = ("m", "n", "k", "a", "b", "acc", "num_warps", "input_precision", "batch")


def _tables(args: Arguments) -> list[RuleTable]:
    rows = []
    for at, first in enumerate(_ERAS):
        last = (_ERAS[at + 1][0], _ERAS[at + 1][1] - 1) if at + 1 < len(_ERAS) else NEWEST
        triton = f"{first[0]}.{first[1]}"
        span = triton if first == last else f"{triton} - {last[0]}.{last[1]}"
        for target in (Target("cuda", "90"), Target("hip", "gfx942"), Target("hip", "gfx1100")):
            cells = []
            for name in ("f16", "f32", "f64", "s8"):
                dtype = dtypes.parse(name)
                shape = smallest(a=dtype, target=target, triton=triton)
                cells.append("x".join(map(str, shape)) if partners(dtype, target, triton) else "no")
            rows.append((span, str(target), *cells))
    target = args["target"]
    named = tuple((name, spoken(accumulators(dtypes.parse(name)))) for name in operands(target))
    return [
        RuleTable("smallest M x N x K", ("Triton", "target", "f16, bf16", "f32", "f64", "s8"), tuple(rows)),
        RuleTable(f"operands on {target}, newest Triton", ("type", "accumulator"), named),
    ]


RULE = LegalityRule(
    "dot",
    TITLE,
    (
        RuleParameter("m", Syntax.INTEGER, "rows of A and of the result", required=True),
        RuleParameter("n", Syntax.INTEGER, "columns of B and of the result", required=True),
        RuleParameter("k", Syntax.INTEGER, "columns of A, rows of B", required=True),
        RuleParameter("a", Syntax.DTYPE, "type of A", required=True),
        RuleParameter("b", Syntax.DTYPE, "type of B; A's where it is left out"),
        RuleParameter("acc", Syntax.DTYPE, "type of the accumulator"),
        RuleParameter("batch", Syntax.INTEGER, "tiles of a batched dot"),
        RuleParameter(
            "input-precision", Syntax.CHOICE, "input_precision", ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
        ),
        RuleParameter("num-warps", Syntax.INTEGER, "warps a block", default="4"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        RuleParameter("triton", Syntax.RELEASE, "Triton release; the newest where it is left out"),
    ),
    _judge,
    _tables,
    (
        "--m 16 --n 8 --k 16 --a f16 --triton 3.4.0",
        "--m 64 --n 64 --k 16 --a e4m3 --target cuda:80",
        "--m 128 --n 128 --k 64 --a f32 --input-precision tf32 --target hip:gfx950",
    ),
    (SOURCE, _OPTIONS),
)
