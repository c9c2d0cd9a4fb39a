"""What must not leave the machine, taken out of texts and documents before they do. Pure but for ``Machine.this``."""

from __future__ import annotations

from triage.publish.privacy.machine import Machine
from triage.publish.privacy.scrubber import Scrubber

__all__ = ["Machine", "Scrubber"]
