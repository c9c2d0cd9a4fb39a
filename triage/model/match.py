"""What the knowledge base says of a diagnosis."""

from dataclasses import dataclass
from typing import Annotated

from triage.model.document import Doc, Documented, Internal, Name

Address = Annotated[str, Doc(schema={"pattern": "^https?://"})]
Texts = Annotated[tuple[str, ...], Doc(optional=True)]


@dataclass(frozen=True, slots=True)
class Match(Documented):
    """An entry of the knowledge base that recognises the diagnosis.

    ``first_bad`` and ``last_bad`` are the oldest and the newest release on which its reproducers failed. ``helps`` and
    ``does_not_help`` were tried on what each names. One that is ``generic`` describes a family of failures;
    ``next_steps`` tell its members apart.
    """

    id: Name
    title: str
    cause: str
    confidence: Annotated[float, Doc(digits=3, schema={"minimum": 0, "maximum": 1})]
    fixed_in: str | None = None
    upstream: tuple[Address, ...] = ()
    evidence: tuple[str, ...] = ()
    helps: Texts = ()
    does_not_help: Texts = ()
    generic: Annotated[bool, Doc(optional=True)] = False
    next_steps: Annotated[Texts, Doc(name="next", optional=True)] = ()
    first_bad: Annotated[str | None, Doc(optional=True)] = None
    last_bad: Annotated[str | None, Doc(optional=True)] = None
    rewrites: Internal[tuple[str, ...]] = ()
