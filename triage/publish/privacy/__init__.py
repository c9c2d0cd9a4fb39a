"""Removes private text from reports before they leave the machine. Pure except for ``LocalIdentity.this``."""

from __future__ import annotations

from triage.publish.privacy.machine import LocalIdentity
from triage.publish.privacy.scrubber import Scrubber

__all__ = ["LocalIdentity", "Scrubber"]
