"""From a finished triage to a document: a module for each part of the report, in the order in which it is read."""

from __future__ import annotations

from triage.publish.compose.whole import compose, files

__all__ = ["compose", "files"]
