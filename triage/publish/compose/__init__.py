"""From a finished triage to a document: a module for each part of the report, in the order in which it is read."""
