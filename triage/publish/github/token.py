"""The token: where it is found, and a type that never shows it in a repr, traceback or message."""

import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from triage.model.errors import EnvironmentFault
from triage.publish.github.address import GitHubServer

_PUBLIC = ("GH_TOKEN", "GITHUB_TOKEN")
_ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""The variables that gh reads, in its order (cli.github.com/manual/gh_help_environment)."""
_GH_TIMEOUT_S = 20
"""gh may ask a keyring, which may prompt its user."""
_VISIBLE = re.compile(r"[!-~]+")


class Token:
    """A token and its source."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str) -> None:
        # A client's own complaint about a bad header would show it.
        if not _VISIBLE.fullmatch(value):
            raise EnvironmentFault(f"the token of {source} has spaces, line breaks or other letters in it: set it anew")
        self._value, self.source = value, source

    def __repr__(self) -> str:
        return f"Token(from {self.source})"

    def authorization(self) -> str:
        """The value of the Authorization header."""
        return f"Bearer {self._value}"

    def hidden(self, text: str) -> str:
        """External text with the token removed: a server or proxy may echo what it received."""
        # Names of hosts come in lower case.
        return re.sub(re.escape(self._value), "***", text, flags=re.IGNORECASE)


def find(server: GitHubServer, environ: Mapping[str, str]) -> Token:
    """The token for a server, from the environment or ``gh``. Raises EnvironmentFault if there is none.

    An Enterprise Server never gets a token for GitHub.com, nor the other way round."""
    names = _ENTERPRISE if server.enterprise else _PUBLIC
    for name in names:
        if value := environ.get(name, "").strip():
            return Token(value, name)
    if value := _from_gh(server, environ):
        return Token(value, "gh auth token")
    raise EnvironmentFault(
        f"no token for {server.host}: set {names[0]} or run `gh auth login --hostname {server.host}`; "
        "--dry-run and --open need none"
    )


def _from_gh(server: GitHubServer, environ: Mapping[str, str]) -> str:
    command = ["gh", "auth", "token", "--hostname", server.host]
    quiet = {**environ, "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
    with suppress(OSError, subprocess.SubprocessError, UnicodeDecodeError):
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_GH_TIMEOUT_S,
            env=quiet,
        )
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""
