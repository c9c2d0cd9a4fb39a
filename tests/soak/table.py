"""Prints the table of the campaign at the end of the session (a plugin of conftest.py), with xdist as well."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, table in getattr(report, "user_properties", ()):
                if name == "soak" and report.when == "call":
                    terminalreporter.section("soak")
                    terminalreporter.write_line(table)
