"""Facts of a diagnosis and its matches in words, the same in every format; a log has no more than these."""

from collections.abc import Sequence

from triage.model.diagnosis import Diagnosis
from triage.model.match import Match


def location(diagnosis: Diagnosis) -> str | None:
    """The compiler's own file and line."""
    return f"{diagnosis.file}:{diagnosis.line}" if diagnosis.file and diagnosis.line else diagnosis.file


def standing(match: Match) -> str:
    """How sure a match is, whether it is a family's, and on which releases its failure was seen."""
    parts = [f"{match.confidence:.0%}", *(["a family of causes"] if match.generic else [])]
    if match.first_bad:
        parts.append(f"first seen in {match.first_bad}")
    if match.fixed_in:
        parts.append(f"fixed in {match.fixed_in}")
    elif match.last_bad:
        parts.append(f"still fails in {match.last_bad}")
    return "; ".join(parts)


def telling(matches: Sequence[Match], most: int) -> list[Match]:
    """The matches to show: a family of causes adds nothing to an entry that names the cause."""
    return [match for number, match in enumerate(matches) if not match.generic or number == 0][:most]


def in_pass(diagnosis: Diagnosis) -> str:
    """The pass that failed, as the end of a clause."""
    return f", in pass {diagnosis.pass_name}" if diagnosis.pass_name else ""
