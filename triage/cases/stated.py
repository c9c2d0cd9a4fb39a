"""What the user states of a kernel on the command line or in a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.model.case import frozen


@dataclass(frozen=True, slots=True)
class StatedValues:
    """What the user states of a kernel's arguments and options, as a case has it. ``divisible`` may name arguments that
    are drafted."""

    signature: Mapping[str, str] = field(default_factory=frozen)
    constexprs: Mapping[str, Any] = field(default_factory=frozen)
    divisible: Mapping[str, int] = field(default_factory=frozen)
    options: Mapping[str, Any] = field(default_factory=frozen)

    def states(self, name: str) -> bool:
        """Whether the type or the value of a parameter is stated."""
        return name in self.signature or name in self.constexprs

    def names(self) -> list[str]:
        """The parameters that it names."""
        return list(dict.fromkeys([*self.signature, *self.constexprs, *self.divisible]))
