"""The environment variables that an interpreter under test and an installer are started with."""

from __future__ import annotations

import os
from collections.abc import Mapping

# They describe the environment that triage was started from, and would put its packages (or its standard
# library) into another interpreter.
_OF_ANOTHER_PYTHON = ("PYTHONHOME", "PYTHONPATH", "PYTHONEXECUTABLE", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")

# They redirect or pin an installation for the user's own project; a managed environment has its own folder and
# its own pin. Where packages come from (indexes, proxies, certificates, caches) stays the user's choice.
_OF_ANOTHER_INSTALLATION = (
    "PIP_CONSTRAINT",
    "PIP_DRY_RUN",
    "PIP_NO_DEPS",
    "PIP_PREFIX",
    "PIP_PYTHON",
    "PIP_ROOT",
    "PIP_TARGET",
    "UV_CONSTRAINT",
    "UV_OVERRIDE",
    "UV_PREFIX",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "UV_TARGET",
)


def interpreter_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """``base`` (default: this process's environment) without what would change another interpreter's packages."""
    return _without(os.environ if base is None else base, _OF_ANOTHER_PYTHON)


def installer_environment() -> dict[str, str]:
    """The environment of uv and pip: with the user's indexes and proxies, without targets and pins."""
    environment = _without(interpreter_environment(), _OF_ANOTHER_INSTALLATION)
    # PIP_USER=0 also overrules `user = true` of a pip.conf, which a virtual environment refuses.
    return {**environment, "PIP_USER": "0", "NO_COLOR": "1", "UV_NO_PROGRESS": "1", "LC_ALL": "C.UTF-8"}


def _without(variables: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in names}
