"""The failure that a text states in words that no recogniser reads."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from triage.logs.described import plain_kind
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.named_pass import named_pass
from triage.logs.patterns import regex
from triage.logs.statement import features
from triage.logs.statement.weights import MOST_NOTHING, NOTHING, learnt
from triage.model.diagnosis import Kind

# Words and shapes of something that failed: a text without any tells of none, whatever its words weigh, as one about
# time alone.
_FAILED = regex(
    r"error|fail|crash|exception|abort|assert|fault|\bhang|\bhung\b|stuck|wrong|incorrect|invalid|illegal|unsupported"
    r"|not supported|cannot|can't|(?:could|do|does|did|will) not|n't\b|unable|\bbreaks?\b|\bbroken|\bbug\b|\bnans?\b"
    r"|missing|denied|undefined|killed|time[ -]?out|out of|mismatch|\b(?-i:SIG[A-Z])|\bIMA\b|traceback|dump|not found"
    r"|\bno module|\bmust\b|expected|requires|too (?:old|large|many|big)|forever|infinite|terminat"
    r"|\bnever\b|conflict|panic|\bICE\b|报错|错误|失败|无法|不支持|崩溃|卡死|异常"
    # Frames of a traceback whose ends are cut off; the second is IPython's arrow.
    r"|\", line \d{1,7}, in |^-{2,9}> ?\d{1,7} ",
    re.IGNORECASE,
)
_FRAME = regex(r"\", line \d{1,7}, in |(?:^|\s)-{2,9}> ?\d{1,7} ")
# The words of MLIR, without which an error is not said to be one of its own.
_OF_MLIR = regex(
    r"MLIR|\bIR\b|\bpass(?:es|manager)?\b|lower|legaliz|layout|encoding|verif|dialect|\bops?\b|operation|'\w{1,20}\.\w"
    r"|\w\.\w{1,40}\b' op|materializ|pipelin|ttg?ir|\btt[gn]?g?\.[a-z]",
    re.IGNORECASE,
)
# Of a program in MLIR, as the failing tool was given it.
_IR = regex(
    r"\s{0,80}(?:(?:%[\w:#]{1,60}(?:, )?){1,8} = )?"
    r"(?:\"[a-z]\w{0,40}\.[\w.]{1,80}\"\(|\^bb\d|\}\)? ?:|(?:tt|func|llvm)\.func |module (?:attributes|@|\{))"
)
# Of a native stack: where something failed, not what.
_STACK = regex(r"\s{0,16}(?:\* )?(?:frame )?#\d{1,3}:?\s{1,4}(?:0x[0-9a-f]{4,16}\b|\S{1,400} \()")
# A row of what an autotuner timed: a candidate, its time and its share.
_TIMED = regex(r"\s{0,20}\w{1,120} \d{1,9}\.\d{1,9} ms \d{1,4}(?:\.\d{1,3})?%")


def tells(statement: Finding) -> bool:
    """Whether the line of a statement itself has a word or the shape of a failure."""
    return _FAILED.search(statement.diagnosis.message) is not None


def stated(lines: Sequence[str], read: Callable[[int, str], Finding | None]) -> Finding | None:
    """The failure that one of the lines states; None where probably nothing failed.

    ``read``: what the recognisers make of a line alone, for its kind and its facts.
    """
    lines = [line for line in lines if not any(shape.match(line) for shape in (_TIMED, _IR))]
    if not lines:
        return None
    weights = learnt()
    shown = lines[: features.MAX_LINES]
    of_lines = [features.of_line(shown, number) for number in range(len(shown))]
    candidates = [number for number, line in enumerate(shown) if not _STACK.match(line)]
    if not candidates:
        return None
    number = candidates[weights.best_of([of_lines[number] for number in candidates])]
    kinds = weights.kinds_of([*of_lines[number], *features.of_text(shown)])
    if not any(map(_FAILED.search, shown)) or kinds.pop(NOTHING) >= MOST_NOTHING:
        return None
    if finding := read(number, shown[number]):
        return replace(finding, specificity=Specificity.TAIL)
    line = shown[number].strip()
    # A sentence is wrapped; its words are of one kind on the lines together.
    beside = [near.strip() for near in shown[max(0, number - 1) : number + 2]]
    around = " ".join(beside)
    if plain_kind(line) is None:
        # The next line says plainly what this one explains.
        line = next(filter(plain_kind, beside), line)
    plain = plain_kind(line) or plain_kind(around)
    kind = plain or Kind(max(kinds, key=lambda kind: kinds[kind]))
    # Only the source in a traceback states a failure without a word of one.
    if plain is None and not _FAILED.search(line) and not _FRAME.search(around):
        return None
    if kind is Kind.MLIR_DIAGNOSTIC and not _OF_MLIR.search(around):
        kind = Kind.UNKNOWN
    pass_name = named_pass([line])
    if pass_name is not None and kind in (Kind.FRONTEND_ERROR, Kind.PYTHON_EXCEPTION):
        kind = Kind.UNKNOWN  # no pass runs in the front end, and the exception that ends one is not its failure
    return Finding(bounded_diagnosis(kind, line, line, pass_name=pass_name), Specificity.TAIL, number)
