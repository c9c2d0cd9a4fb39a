"""The campaign of misuse; it prints its seed and its table, also where nothing goes wrong. See tests/README.md."""

from __future__ import annotations

import os
import secrets

import pytest

from soak.campaign import Campaign
from soak.compiles import misbehaving_compiles
from soak.environments import bad_environments, kills
from soak.links import links
from soak.servers import misbehaving_servers
from soak.texts import fuzzed_logs, mutated_cases, planted_secrets

SEED = os.environ.get("TRIAGE_SOAK_SEED") or secrets.token_hex(4)
SECONDS = float(os.environ.get("TRIAGE_SOAK_SECONDS") or 300)
PARTS = {
    "compiles": (0.30, misbehaving_compiles),
    "environments": (0.22, bad_environments),
    "kills": (0.14, kills),
    "links": (0.12, links),
    "servers": (0.08, misbehaving_servers),
    "cases": (0.04, mutated_cases),
    "logs": (0.05, fuzzed_logs),
    "secrets": (0.05, planted_secrets),
}
"""Each part, with its share of the time."""


@pytest.mark.slow
@pytest.mark.timeout(max(600, 3 * SECONDS))
def test_nothing_goes_wrong_in_a_campaign(record_property: pytest.RecordProperty) -> None:
    names, _, number = os.environ.get("TRIAGE_SOAK_ONLY", "").partition(":")
    campaign = Campaign(SEED, SECONDS, int(number) if number else None)
    try:
        for name in names.split(",") if names else PARTS:
            campaign.run(name, *PARTS[name])
    finally:
        record_property("soak", campaign.table())
        campaign.remove()
    assert campaign.incidents == []
