"""Predictions of the legality rules for configurations that are not compiled yet, and their use in the search.

``predict`` reads a configuration the way each rule wants it: the launch, the tile and types of ``tl.dot``, the
operands of wgmma, shared memory, tensor memory and descriptors. A reading rests on names and syntax, so it may be
wrong: a prediction only moves a neighbour in the order. It excludes a neighbour only where the failure itself confirms
the reading: the case breaks the same rule exactly, and the compiler's message confirms it.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from triage.frontends.frontend import frontend
from triage.legality import dot, dtypes, launch, smem, tmem
from triage.legality.dtypes import DType
from triage.legality.release import series
from triage.legality.smem.model import DotInstruction
from triage.legality.tma import descriptor
from triage.legality.violation import Violation
from triage.legality.wgmma import instruction, lowering
from triage.model.case import Case
from triage.model.errors import InputError
from triage.source.dtypes import element_type
from triage.source.module import called
from triage.source.parameters import KernelSource
from triage.suggest.configuration import Configuration, dimension
from triage.suggest.evidence import Evidence
from triage.suggest.proposal import Move, Proposal
from triage.suggest.rewrites.operands import DotOperand, operands
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.scene import Scene

_TRANSPOSED_SINCE = (3, 3)
"""From 3.3 on Triton transposes an MN-major operand that TMA loads, but in a warp-specialized loop."""
_CONFIRMED_BY = {
    "launch.num-warps": re.compile(r"num_warps.*power of (?:2|two)"),
    "dot.": re.compile(r"[Ii]nput shapes should have|All non-batch values"),
    "wgmma.": re.compile(r"WGMMA type or shape is not supported"),
    "tma.block-row": re.compile(r"at least 16 bytes"),
}
"""Messages that confirm a rule; one whose name ends in a dot stands for all that begin with it. Shared memory is
confirmed by its number."""
TileShape: TypeAlias = tuple[int, int, int]
"""M, N and K in elements."""

_BROKEN_ANEW = 2.0
_STILL_BROKEN = 0.5
_REMOVED = -1.0
_JUDGED = (Move.OPTION, Move.TILE, Move.NUMBER, Move.FLAG, Move.TARGET)
"""Other changes are of types or of texts, which a kernel may convert or choose by."""


@dataclass(frozen=True, slots=True)
class Load:
    """An operand of the kernel's one matrix product, as its source loads it."""

    letter: str
    argument: str | None
    by_descriptor: bool
    k_major: bool
    precision: str | None
    """``input_precision`` of the product: a value, the name of a parameter, or None where the text does not tell."""


def loads(subject: Subject | None) -> tuple[Load, ...]:
    """A and B of a kernel with one ``tl.dot`` that multiplies them as they are loaded; nothing for any other kernel."""
    if subject is None or [called(node) for node in ast.walk(subject.kernel)].count("dot") != 1:
        return ()
    pair = [operand for operand in operands(subject) if called(operand.dot) == "dot"]
    if len(pair) != 2 or any(operand.converted for operand in pair):
        return ()
    return tuple(
        Load(
            operand.letter,
            operand.argument(subject),
            operand.by_descriptor(subject),
            operand.k_major,
            _precision(operand),
        )
        for operand in pair
    )


def _precision(operand: DotOperand) -> str | None:
    named = {word.arg: word.value for word in operand.dot.keywords}
    match named.get("input_precision", ast.Constant(None if "allow_tf32" in named else "tf32")):
        case ast.Name(id=str(text)) | ast.Constant(value=str(text)):
            return text
    return None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A violation, and whether the rule is exact for this reading: then the configuration cannot compile.

    ``required``: the bytes of shared memory that it needs, where that is what is wrong.
    """

    violation: Violation
    exact: bool = True
    required: int | None = None


def predict(
    case: Case, source: KernelSource, changes: Mapping[str, Any], product: tuple[Load, ...]
) -> list[Prediction]:
    """Violations of the configuration that a change makes, of the case itself where there is none. ``product`` is from
    :func:`loads`. Changes must apply to the case."""
    at = Configuration.of(case, source, changes)
    ctas = at.values.get("num_ctas", 1)
    broken = launch.violations(at.target, at.num_warps, ctas if isinstance(ctas, int) else 1)
    predicted = [Prediction(violation, violation.parameter == "num_warps") for violation in broken]
    warps_refused = any(prediction.exact for prediction in predicted)
    predicted += map(Prediction, _descriptors(case, at))
    if not frontend(case.language).has_tiles or not source.dots or warps_refused:
        return predicted
    tile = _tile(case, at)
    operand = _operand_type(at, product)
    if tile is None or operand is None:
        return predicted
    m, n, k = tile
    refused = dot.violations(m=m, n=n, k=k, a=operand, target=at.target, triton=case.triton, num_warps=at.num_warps)
    # The kernel may convert what it loads, so types are not judged.
    refused = [violation for violation in refused if violation.parameter in ("m", "n", "k")]
    if refused:
        return [*predicted, *map(Prediction, refused)]
    if product:
        predicted += _wgmma(case, at, tile, operand, product)
        predicted += _memory(case, at, tile, operand, product)
    return predicted


def _tile(case: Case, at: Configuration) -> TileShape | None:
    """M, N and K by the names of the constexprs; None where a name is missing, or two stand for one dimension: two
    products, or a size of the problem beside the tile."""
    extents: dict[str, int] = {}
    for name in case.constexprs:
        value, letter = at.values.get(name), dimension(name)
        if letter is None or type(value) is not int:
            continue
        if letter in extents:
            return None
        extents[letter] = value
    return (extents["M"], extents["N"], extents["K"]) if set(extents) == {"M", "N", "K"} else None


def _operand_type(at: Configuration, product: tuple[Load, ...]) -> DType | None:
    """The element type of the operands, or of all loaded pointers where they are unknown; None for several."""
    arguments = [load.argument or "" for load in product]
    pointers = arguments or [name for name in at.source.loaded if str(at.values.get(name)).startswith("*")]
    types = {element_type(at.values.get(name, "")) for name in pointers}
    return dtypes.find(types.pop()) if len(types) == 1 else None


def _specialized(at: Configuration) -> bool:
    """A parameter that is passed as ``warp_specialize`` is on."""
    return any("warp_specialize" in used and at.values.get(name) for name, used in at.source.keywords.items())


def _stages(at: Configuration) -> int:
    stages = at.values.get("num_stages", 3)
    return stages if type(stages) is int else 3


def _wgmma(
    case: Case, at: Configuration, tile: TileShape, operand: DType, product: tuple[Load, ...]
) -> Iterator[Prediction]:
    """Operands that lie MN-major in shared memory when a wgmma reads them: those that TMA copies there as they are."""
    specialized = _specialized(at)
    if not specialized and (series(case.triton) >= _TRANSPOSED_SINCE or _stages(at) < 2):
        return  # Triton transposes them on the way.
    precision = at.values.get(product[0].precision or "", product[0].precision)
    if not isinstance(precision, str):
        return
    m, n, k = tile
    dtype = operand.name
    path = lowering.lower(
        m, n, k, dtype, input_precision=precision, num_warps=at.num_warps, target=at.target, release=case.triton
    ).path
    if path is not lowering.Path.WGMMA:
        return
    majors = {load.letter: "k" if load.k_major or not load.by_descriptor else "mn" for load in product}
    name = "tf32" if dtype == "f32" else dtype
    for violation in instruction.violations(a=name, a_major=majors["A"], b_major=majors["B"]):
        # How a warp-specialized loop is partitioned depends on more than the tile.
        yield Prediction(violation, not specialized)


def _memory(
    case: Case, at: Configuration, tile: TileShape, operand: DType, product: tuple[Load, ...]
) -> Iterator[Prediction]:
    """Shared memory of the loop's buffers, and tensor memory of the accumulator."""
    a, b = sorted(product, key=lambda load: load.letter)
    try:
        estimate = smem.estimate(
            tile=tile,
            dtype_a=operand,
            stages=_stages(at),
            target=at.target,
            num_warps=at.num_warps,
            loads="tma" if a.by_descriptor and b.by_descriptor else "pointer",
            b_layout="nk" if b.by_descriptor and b.k_major else "kn",
            triton=case.triton,
            warp_specialized=_specialized(at),
        )
    except InputError:
        return
    for violation in smem.violations_of(estimate):
        yield Prediction(violation, estimate.exact and not estimate.notes, estimate.total_bytes)
    if estimate.loop.instruction is DotInstruction.TCGEN05:
        for violation in tmem.violations(tiles=[(tile[0], tile[1], "f32")], target=at.target):
            yield Prediction(violation, exact=False)


def _descriptors(case: Case, at: Configuration) -> Iterator[Violation]:
    """Blocks of the descriptors that the kernel makes of its arguments."""
    if not frontend(case.language).has_tiles:
        return
    for pointer, extents in at.source.descriptors:
        block = [at.values.get(extent) if isinstance(extent, str) else extent for extent in extents]
        dtype = dtypes.find(str(at.values.get(pointer, "")).lstrip("*"))
        sizes = [size for size in block if type(size) is int]
        if dtype is not None and sizes and len(sizes) == len(block):
            yield from descriptor.violations(dtype=dtype, block=sizes)


class Predictions:
    """The predictions for the neighbours of one failing case."""

    def __init__(self, scene: Scene, product: tuple[Load, ...]) -> None:
        self._scene, self._product = scene, product
        predicted = predict(scene.case, scene.source, {}, product)
        self._broken = frozenset(prediction.violation.rule for prediction in predicted)
        self.confirmed = frozenset(
            prediction.violation.rule
            for prediction in predicted
            if prediction.exact and _confirmed(prediction, scene.evidence)
        )
        """Rules that the case breaks by these predictions and by the words of its failure."""

    def weight(self, proposal: Proposal) -> float:
        """How much later (or, negative, earlier) a proposal should be tried: later where it breaks a rule or leaves
        one broken, earlier where it removes a violation."""
        if proposal.move not in _JUDGED:
            return 0.0
        broken = {prediction.violation.rule for prediction in self._of(proposal)}
        remaining = len(broken & self._broken)
        change = _REMOVED if remaining < len(self._broken) else _STILL_BROKEN * remaining
        return _BROKEN_ANEW * len(broken - self._broken) + change

    def excludes(self, proposal: Proposal) -> bool:
        """The proposal cannot compile: it breaks, exactly, a rule that the failure of the case has confirmed."""
        if not self.confirmed or proposal.move not in _JUDGED:
            return False
        return any(predicted.exact and predicted.violation.rule in self.confirmed for predicted in self._of(proposal))

    def _of(self, proposal: Proposal) -> list[Prediction]:
        return predict(self._scene.case, self._scene.source, proposal.changes, self._product)


def _confirmed(prediction: Prediction, evidence: Evidence) -> bool:
    """The failure's text confirms that this rule was broken."""
    if prediction.required is not None:
        return evidence.required is not None and evidence.required[0] == prediction.required
    rule = prediction.violation.rule
    return any(
        pattern.search(evidence.text)
        for name, pattern in _CONFIRMED_BY.items()
        if rule == name or (name.endswith(".") and rule.startswith(name))
    )
