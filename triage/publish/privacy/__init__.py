"""Removes private text from reports before they leave the machine. Pure except for ``LocalIdentity.this``."""

from triage.publish.privacy.machine import LocalIdentity
from triage.publish.privacy.scrubber import Scrubber

__all__ = ["LocalIdentity", "Scrubber"]
