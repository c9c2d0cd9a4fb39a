"""Private facts about this machine's user: names, home folder, values of environment variables."""

from __future__ import annotations

import builtins
import keyword
import os
import pwd
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from triage.publish.privacy.assigned import is_secret
from triage.publish.privacy.paths import is_person

_USER_VARIABLES = ("USER", "LOGNAME", "USERNAME", "SUDO_USER")
_HOST_VARIABLES = ("HOSTNAME", "HOST", "COMPUTERNAME")
_PUBLIC_VARIABLES = re.compile(
    r"(?:TRITON_(?!TRIAGE)|MLIR_|LLVM_|LC_|PYTEST|PYTHON|CUDA_|NVIDIA_|ROCM_|HIP_|HSA_|NCCL_|OMP_|MKL_|XDG_SESSION|PIP_|UV_)\w*"
    r"|LANG(?:UAGE)?|TERM\w*|COLOR\w*|SHELL|SHLVL|PAGER|EDITOR|VISUAL|LS_COLORS|TZ|IFS|LINES|COLUMNS"
    r"|PS\d|VIRTUAL_ENV_PROMPT|DEBIAN_FRONTEND|HOSTTYPE|MACHTYPE|OSTYPE"
)
"""Settings of compilers, Python and terminals: reports may show their values."""
_LEAST_SECRET, _LEAST_VALUE = 6, 8
"""Characters below which a value is too common to be removed everywhere."""
_COMMON_WORDS = frozenset(
    {
        "will", "mark", "max", "art", "bill", "rob", "grant", "chase", "drew", "frank", "gene", "guy", "jack",
        "june", "may", "april", "august", "pat", "ray", "sue", "mars", "jade", "rose", "dawn", "faith", "hope",
        "joy", "grace", "olive", "ivy", "dean", "lance", "miles", "penny", "reed", "cliff", "dale", "glen",
        "heath", "wade", "ward", "dot", "load", "store", "warp", "block", "lane", "thread", "layout", "tensor",
        "kernel", "triton", "cuda", "torch", "python", "linux", "memory", "shared", "stage", "pass", "core",
        "dim", "axis", "test", "tests", "sum", "min", "cat", "scan", "sort", "gather", "reduce", "split",
        "join", "case", "cast", "trans", "mask", "range", "bench", "data", "model", "base", "main", "head",
        "tail", "local", "host", "user",
    }
)  # fmt: skip
"""Words that are also names, and compiler vocabulary: treated as a name only where a name is expected."""


@dataclass(frozen=True, slots=True)
class LocalIdentity:
    """``users`` and ``hosts`` are account and host names, ``full_names`` names of people; ``secrets`` are credentials,
    ``values`` other values that identify something of the user's."""

    users: frozenset[str] = frozenset()
    full_names: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    home: str = ""
    secrets: frozenset[str] = frozenset()
    values: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def this(cls) -> LocalIdentity:
        """The current machine and user."""
        try:
            entry = pwd.getpwuid(os.getuid())
            account, full, home = entry.pw_name, entry.pw_gecos.partition(",")[0], entry.pw_dir
        except KeyError:
            account, full, home = "", "", ""
        return cls.of(os.environ, account, socket.gethostname(), os.environ.get("HOME", home), full)

    @classmethod
    def of(
        cls, environment: Mapping[str, str], user: str = "", host: str = "", home: str = "", full_name: str = ""
    ) -> LocalIdentity:
        """A machine with that environment and user."""
        users = {user, home.rstrip("/").rpartition("/")[2], *(environment.get(name, "") for name in _USER_VARIABLES)}
        hosts = {host, *(environment.get(name, "") for name in _HOST_VARIABLES)}
        hosts |= {name.partition(".")[0] for name in hosts}
        values = {name: value.strip() for name, value in environment.items()}
        secrets = {secret for name, value in values.items() if is_secret(name, value) for secret in _lines(value)}
        others = {
            value
            for name, value in values.items()
            if not _PUBLIC_VARIABLES.fullmatch(name)
            and name not in (*_USER_VARIABLES, *_HOST_VARIABLES)
            and _own(value)
        }
        return cls(
            users=frozenset(name for name in users if is_person(name)),
            full_names=frozenset({full_name} if " " in full_name.strip() else ()),
            hosts=frozenset(name for name in hosts if len(name) >= 2 and name != "localhost"),
            home=home.rstrip("/"),
            secrets=frozenset(secret for secret in secrets if len(secret) >= _LEAST_SECRET),
            values=frozenset(others - secrets),
        )


def is_word(name: str) -> bool:
    """Whether a name is also an ordinary word of code or prose."""
    lowered = name.lower()
    return lowered in _COMMON_WORDS or keyword.iskeyword(name) or hasattr(builtins, name) or len(name) < 4


def _lines(value: str) -> list[str]:
    """The value and its longer lines: a multi-line key may be printed in part."""
    return [value, *(line.strip() for line in value.splitlines() if len(line.strip()) >= 16)]


def _own(value: str) -> bool:
    """Whether a value identifies something of the user's: not a path (shortened elsewhere), number, version or flag."""
    if len(value) < _LEAST_VALUE or value.startswith(("/", "~", "-")) or ":/" in value.replace("://", ""):
        return False
    return (
        re.fullmatch(r"[\d.,:;+ -]*|[A-Z]{2}[\w.]*UTF-?8|(?:https?://)?(?:localhost|127\.0\.0\.1)[:/\d]*", value)
        is None
    )
