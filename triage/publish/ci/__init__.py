"""What a triage found, in the formats of continuous integration: annotations and summaries of GitHub Actions, JUnit
XML, SARIF. All are made from a list of :class:`~triage.publish.ci.checked.Checked`, which is scrubbed when it is made.
"""
