"""Element types that a target and a Triton release support by use: loads, arithmetic, conversions, dots, atomics.

A kernel that does one of ``USES`` with one type was compiled for every type, target and release of the tables below, up
to the assembler (cuda) or to the assembly text (hip: there is no linker in all releases); ``violations`` says what
failed, whichever stage reported it. So the table holds what the front end refuses on purpose (``supported_fp8_dtypes``,
the types of tl.dot and the atomics), and what only breaks later:

- bf16 on sm_75 up to 3.2: ptxas has no bf16 arithmetic or conversion there; 3.3 emulates it.
- fp8 arithmetic: no backend has any; convert first. An fp8 operand of tl.dot is fine.
- float32 to fp8e5 on sm_75 in 3.9: ptxas refuses the ``cvt`` (it wants sm_89).
- int8 dots on sm_75 from 3.3 on (in 3.3 fp16 and bf16 ones too), fp64 dots on gfx94x up to 3.7, and fp8e4nv ones there
  in 3.3: the lowering fails.
- dots of the FNUZ fp8 types on gfx90a up to 3.5, on cuda up to 3.1.
- bitwise atomics of floats: cuda compiles them (they are untyped), AMD's instruction selection does not.
- ``atomic_cas`` of floats on AMD from 3.7 on; ``atomic_xchg`` on AMD breaks in 3.3 (floats) and from 3.6 on, by chip.
- 8- and 16-bit unsigned atomics up to 3.3 compile on AMD; what they do there was not looked at.
- A pointer to bool is read as int8 up to 3.1, and so takes part in dots as one.

Not covered: fp4 and fp6 have no type in Triton; they are bytes in ``tl.dot_scaled``. Whether a type has an
instruction of its own or is emulated is what the rules ``mma``, ``wgmma``, ``tcgen05``, ``mfma`` and ``wmma`` say.
"""

from triage.legality import dot, fp8
from triage.legality.dtypes import DType, parse
from triage.legality.explanation import Fact, RuleTable
from triage.legality.release import Series, series
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, refuse, spoken
from triage.model.target import Target

TITLE = "element types by target: loads, arithmetic, conversions, dots, atomics"
SOURCE = "triton/language/semantic.py and compiles of every type, target and release"
_BITWISE = ("atomic_and", "atomic_or", "atomic_xor")
USES = (
    "load",
    "arithmetic",
    "to_float32",
    "from_float32",
    "dot",
    "atomic_add",
    "atomic_max",
    "atomic_min",
    *_BITWISE,
    "atomic_xchg",
    "atomic_cas",
)
"""``load`` includes stores; ``dot`` is ``tl.dot`` of two 32x32 tiles of the type."""

_WHOLE = ("s32", "u32", "s64", "u64")
_BYTES = ("u8", "u16")
_INTEGERS = ("b1", "s8", "u8", "s16", "u16", *_WHOLE)
TYPES = ("f16", "bf16", "f32", "f64", *fp8.NAMES, *_INTEGERS)
"""The types that Triton has."""


def allowed(target: Target, use: str, triton: str | None = None) -> tuple[str, ...]:
    """The types that a use takes on a target."""
    number = series(triton)
    return tuple(name for name in TYPES if _takes(name, target, use, number))


def violations(*, dtype: DType, target: Target, use: str = "load", triton: str | None = None) -> list[Violation]:
    """Why a type does not compile for this use; empty when it does, or when Triton has no such use.

    ``use`` is one of ``USES``; ``triton`` is a release, the newest where it is left out. Raises InputError for a bad
    release.
    """
    number = series(triton)
    if use not in USES or _takes(dtype.name, target, use, number):
        return []
    right = allowed(target, use, triton)
    close = _nearest(dtype, right)
    release = ".".join(map(str, number))
    if dtype.name in fp8.NAMES and dtype.name not in fp8.supported(target, number):
        names = [parse(name).triton for name in fp8.NAMES if name in fp8.supported(target, number)]
        listed = spoken(names) or "none"
        message = f"{dtype.triton} does not exist on {target} in Triton {release}: its fp8 types are {listed}"
        return [refuse("dtype.fp8", dtype.name, right, fp8.SOURCE, message, close, parameter="dtype")]
    elsewhere = tuple(other for other in USES if _takes(dtype.name, target, other, number))
    message = f"{use} of {dtype} does not compile on {target} in Triton {release}"
    if dtype.name in TYPES and elsewhere:
        message += f"; {', '.join(elsewhere)} do" if len(elsewhere) > 1 else f"; {elsewhere[0]} does"
    rule = f"dtype.{use.replace('_', '-')}"
    return [refuse(rule, dtype.name, right, SOURCE, message, close, parameter="dtype")]


def _takes(name: str, target: Target, use: str, number: Series) -> bool:
    if name not in TYPES or (name not in fp8.supported(target, number) and name in fp8.NAMES):
        return False
    match use:
        case "arithmetic":
            return name not in fp8.NAMES and not _no_bf16(name, target, number)
        case "to_float32" | "from_float32":
            return _converts(name, target, use, number)
        case "dot":
            return _multiplies(name, target, number)
        case "atomic_cas":
            return _swaps(name, target, number)
    return use == "load" or _updates(name, target, use, number)


def _no_bf16(name: str, target: Target, number: Series) -> bool:
    return name == "bf16" and (target.capability or 80) < 80 and number < (3, 3)


def _converts(name: str, target: Target, use: str, number: Series) -> bool:
    capability = target.capability
    if number < (3, 2) and name in fp8.NAMES:
        if capability is None:
            return name in ("e5m2", "e4m3fnuz", "e5m2fnuz")
        return name in ("e5m2", "e4m3b15") or (capability >= 89 and name in ("e4m3", "e4m3fnuz"))
    if name == "e5m2" and use == "from_float32" and capability is not None and capability < 80:
        return number < (3, 9)
    return not _no_bf16(name, target, number)


def _multiplies(name: str, target: Target, number: Series) -> bool:
    release = ".".join(map(str, number))
    if not dot.partners(parse(name), target, release):
        return False
    if (target.capability or 80) < 80:
        # Turing multiplies fp16 and int8. Up to 3.2 the rest has no way out, from 3.3 on int8 has none, and in 3.3
        # what reaches the tensor cores as fp16 or bf16 fails.
        if name == "s8":
            return number < (3, 3)
        if name in ("bf16", "f32"):
            return number >= ((3, 4) if name == "bf16" else (3, 3))
        if name in ("f16", "e4m3b15") and number == (3, 3):
            return False
    if name == "f64":
        return number >= (3, 2) and (not target.arch.startswith("gfx94") or number >= (3, 8))
    if name == "e4m3" and number == (3, 3) and target.arch.startswith("gfx94"):
        return False
    if name in ("e4m3fnuz", "e5m2fnuz"):
        if target.arch == "gfx90a":
            return number >= (3, 6)
        return number >= (3, 2) or target.backend == "hip"
    return True


def _swaps(name: str, target: Target, number: Series) -> bool:
    if parse(name).bits not in (16, 32, 64):
        return False
    if target.backend == "cuda" or number >= (3, 7) or name in ("s16", "u16", *_WHOLE):
        return True
    return name == "bf16" and number < (3, 2)  # an i16 by then


def _updates(name: str, target: Target, use: str, number: Series) -> bool:
    amd = target.backend == "hip"
    if name in _WHOLE:
        return use != "atomic_xchg" or not (amd and _lost_exchange(target, number))
    if number < (3, 4) and amd:
        if name in _BYTES:
            return True
        if name in fp8.NAMES:
            return use in (*_BITWISE, "atomic_xchg")
    if use == "atomic_add":
        return name in ("f16", "f32", "f64") or (name == "bf16" and number >= (3, 4))
    if name not in ("f32", "f64"):
        return False
    if use in _BITWISE:
        return not amd
    if use == "atomic_xchg" and amd:
        if number == (3, 3):
            return not target.arch.startswith(("gfx94", "gfx95"))
        split = number >= (3, 9) and name == "f64" and not target.arch.startswith("gfx90")
        return not split and not _lost_exchange(target, number)
    return True


def _lost_exchange(target: Target, number: Series) -> bool:
    """3.6 to 3.8 lower atomic_xchg on these chips to what does not become LLVM IR."""
    chips = ("gfx94", "gfx95") if number < (3, 7) else ("gfx94", "gfx95", "gfx12")
    return (3, 6) <= number < (3, 9) and target.arch.startswith(chips)


def _nearest(dtype: DType, right: tuple[str, ...]) -> tuple[str, ...]:
    """Types of the same kind, the closest in width first, wider before narrower."""
    close = [name for name in right if (name in _INTEGERS) == (dtype.name in _INTEGERS)]
    return tuple(sorted(close, key=lambda name: (abs(parse(name).bits - dtype.bits), -parse(name).bits)))[:2]


def _judge(args: Arguments) -> Judgement:
    dtype, target, use, triton = args["dtype"], args["target"], args["use"], args.get("triton")
    number = series(triton)
    release = ".".join(map(str, number))
    uses = [known for known in USES if _takes(dtype.name, target, known, number)]
    types = allowed(target, use, triton)
    return Judgement(
        f"{use} of {dtype} on {target}, Triton {release}",
        violations(dtype=dtype, target=target, use=use, triton=triton),
        (
            Fact("uses", uses, f"{dtype} does", ", ".join(uses) or "nothing"),
            Fact("types", list(types), f"{use} takes", ", ".join(types) or "nothing"),
        ),
        resolved={"triton": release},
    )


def _tables(args: Arguments) -> list[RuleTable]:
    target = args["target"]
    number = series(args.get("triton"))
    rows = tuple((name, *("yes" if _takes(name, target, use, number) else "" for use in _SHOWN)) for name in TYPES)
    columns = ("type", *(use.removeprefix("atomic_") for use in _SHOWN))
    return [RuleTable(f"{target}, Triton {'.'.join(map(str, number))} (and, or, xor alike)", columns, rows)]


_SHOWN = tuple(use for use in USES if use not in ("atomic_min", "atomic_or", "atomic_xor"))

RULE = LegalityRule(
    "dtype",
    TITLE,
    (
        RuleParameter("dtype", Syntax.DTYPE, "element type", required=True),
        RuleParameter("use", Syntax.CHOICE, "what is done with it", USES, default="load"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        RuleParameter("triton", Syntax.RELEASE, "Triton release; the newest where it is left out"),
    ),
    _judge,
    _tables,
    (
        "--dtype e4m3 --use load --target cuda:80",
        "--dtype bf16 --use atomic_max",
        "--dtype s8 --use dot --target cuda:75 --triton 3.6.0",
    ),
    (SOURCE, fp8.SOURCE),
)
