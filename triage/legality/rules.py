"""Every rule by name. Modules are imported when their rule is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from triage.legality.rule import Rule

_WHERE = {
    "launch": "triage.legality.launch",
}
"""Where each rule's ``RULE`` is, in the order in which the list shows them."""


def names() -> tuple[str, ...]:
    """All rules."""
    return tuple(_WHERE)


def rule(name: str) -> Rule:
    """A rule by name. Raises KeyError."""
    module: Any = importlib.import_module(_WHERE[name])
    found = module.RULE
    assert isinstance(found, Rule)
    return found
