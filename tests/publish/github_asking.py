"""A look at a GitHub server, with short time limits, and what it raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from github_server import TOKEN

from triage.model.errors import TriageError
from triage.publish.github.address import GitHubServer
from triage.publish.github.client import Client
from triage.publish.github.endpoints import ApiRequest
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience

pytest.importorskip("urllib3", reason="the extra 'github' is not installed")

QUICK = Patience(connect_s=2, read_s=0.15, step_s=1.5, settle_s=0.3, tries=3, backoff_s=0.01, most_bytes=1 << 20)


def asking(url: str, path: str = "/repos/octo/kernels", patience: Patience = QUICK) -> Any:
    """One look, with the token."""
    client = Client(GitHubServer.parse(url), Token(TOKEN, "GH_TOKEN"), lambda line: None, patience)
    return client.read(ApiRequest("look up the repository", "GET", f"{GitHubServer.parse(url).api}{path}")).document


def line(problem: Callable[[], Any]) -> tuple[str, int]:
    """The line and exit code of what fails."""
    with pytest.raises(TriageError) as caught:
        problem()
    text = str(caught.value)
    assert "\n" not in text
    assert TOKEN.lower() not in text.lower()
    return text, caught.value.exit_code
