"""Results for continuous integration: GitHub Actions annotations and summaries, JUnit XML, SARIF.

All are rendered from a list of :class:`~triage.publish.ci.checked.Checked`, scrubbed on creation."""
