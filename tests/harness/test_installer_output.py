"""What installers print when they fail: the problem, the line a user reads, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolchain_setups import assert_one_line

from triage.harness.toolchains.failures import InstallFailure, Problem, diagnose, explain, redact
from triage.model.releases import parse

# As printed by uv 0.13 and pip 23.2, shortened only where "…" stands.
OUTPUTS = {
    "uv-unknown": (
        "3.99.0",
        "error: No solution found when resolving dependencies\n  cause: Because there is no version of "
        "triton==3.99.0 and you require triton==3.99.0, we can conclude that your requirements are unsatisfiable.\n",
        Problem.NO_SUCH_VERSION,
    ),
    "uv-unknown-series": (
        "3.99",
        "error: No solution found when resolving dependencies\n  cause: Because only triton<=3.9.0 is available and "
        "you require triton==3.99.*, we can conclude that your requirements are unsatisfiable.\n",
        Problem.NO_SUCH_VERSION,
    ),
    "uv-partial-mirror": (
        "3.2.0",
        "  cause: Because there is no version of triton==3.2.0 and you require triton==3.2.0, we can conclude …\n",
        Problem.NO_PACKAGE,
    ),
    "uv-empty-index": (
        "3.2.0",
        "  cause: Because triton was not found in the package registry and you require triton==3.2.0, we can …\n",
        Problem.NO_PACKAGE,
    ),
    "uv-no-wheel": (
        "3.0.0",
        "error: No solution found when resolving dependencies\n  cause: Because triton==3.0.0 has no wheels with a "
        "matching Python ABI tag (e.g., `cp313`) and you require triton==3.0.0, we can conclude that your "
        "requirements are unsatisfiable.\n\nhint: You require CPython 3.13 (`cp313`), but we only found wheels for "
        "`triton` (v3.0.0) with the following Python ABI tags: `cp38`, `cp39`, `cp310`, `cp311`, `cp312`\n",
        Problem.NO_WHEEL,
    ),
    "uv-no-platform": (
        "3.2.0",
        "  cause: Because triton==3.2.0 has no wheels with a matching platform tag (e.g., `macosx_14_0_arm64`) …\n",
        Problem.NO_WHEEL_AT_ALL,
    ),
    "uv-refused": (
        "3.2.0",
        "error: ReleaseRequest failed after 3 retries in 7.6s\n  cause: Failed to fetch: http://127.0.0.1:9/simple/triton/\n"
        "  cause: error sending request for url (http://127.0.0.1:9/simple/triton/)\n"
        "  cause: client error (Connect)\n  cause: tcp connect error\n  cause: Connection refused (os error 111)\n",
        Problem.NO_NETWORK,
    ),
    "uv-offline": (
        "3.2.0",
        "  cause: Because triton was not found in the cache and you require triton==3.2.0, we can conclude …\n\n"
        "hint: Packages were unavailable because the network was disabled. …\n",
        Problem.NO_NETWORK,
    ),
    "uv-disk-full": (
        "3.2.0",
        "error: Failed to install: triton-3.2.0-cp311-….whl (triton==3.2.0)\n  cause: Failed to copy to `/c/e/lib…`\n"
        "  cause: failed to copy file from … to …: No space left on device (os error 28)\n",
        Problem.DISK_FULL,
    ),
    "pip-unknown": (
        "3.99.0",
        "ERROR: Could not find a version that satisfies the requirement triton==3.99.0 (from versions: 2.0.0, 2.3.1, "
        "3.8.0, 3.9.0, 3.9.1)\nERROR: No matching distribution found for triton==3.99.0\n",
        Problem.NO_SUCH_VERSION,
    ),
    "pip-no-wheel": (
        "3.0.0",
        "ERROR: Could not find a version that satisfies the requirement triton==3.0.0 (from versions: 3.2.0, 3.9.0)\n"
        "ERROR: No matching distribution found for triton==3.0.0\n",
        Problem.NO_WHEEL,
    ),
    "pip-empty-index": (
        "3.2.0",
        "ERROR: Could not find a version that satisfies the requirement triton==3.2.0 (from versions: none)\n"
        "ERROR: No matching distribution found for triton==3.2.0\n",
        Problem.NO_PACKAGE,
    ),
    "pip-refused": (
        "3.2.0",
        "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection "
        "broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7fe7c96bc490>: "
        "Failed to establish a new connection: [Errno 111] Connection refused')': /simple/triton/\n"
        "ERROR: Could not find a version that satisfies the requirement triton==3.2.0 (from versions: none)\n"
        "ERROR: No matching distribution found for triton==3.2.0\n",
        Problem.NO_NETWORK,
    ),
    "pip-disk-full": (
        "3.2.0",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        Problem.DISK_FULL,
    ),
    "venv-disk-full": ("3.2.0", "Error: [Errno 28] No space left on device\n", Problem.DISK_FULL),
    "venv-debian": (
        "3.2.0",
        "The virtual environment was not created successfully because ensurepip is not available. …\n",
        Problem.NO_VENV,
    ),
    "silence": ("3.2.0", "", Problem.OTHER),
    "something-else": ("3.2.0", "Collecting triton\nERROR: hash mismatch\ndetails\n", Problem.OTHER),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_an_installer_says(name: str) -> None:
    version, output, problem = OUTPUTS[name]
    request = parse(version)
    failure = diagnose(output, request)
    assert failure.problem is problem
    told = explain(failure, request, folder=Path("/cache/env"), log=Path("/cache/env.log"))
    assert_one_line(told, version)
    # 2 only when the user can mend it by writing another version.
    assert told.exit_code == (2 if problem is Problem.NO_SUCH_VERSION else 3)


def test_the_nearest_are_the_installers_where_it_lists_them() -> None:
    version, output, _ = OUTPUTS["pip-unknown"]
    told = explain(diagnose(output, parse(version)), parse(version), folder=Path("/c"), log=Path("/l"))
    assert str(told).endswith("the nearest are 3.8.0, 3.9.0, 3.9.1")


def test_the_pythons_that_have_a_wheel_are_named() -> None:
    version, output, _ = OUTPUTS["uv-no-wheel"]
    failure = diagnose(output, parse(version))
    assert failure.pythons == {"3.8", "3.9", "3.10", "3.11", "3.12"}
    assert "wheels for Python 3.8, 3.9, 3.10, 3.11, 3.12 only" in str(
        explain(failure, parse(version), folder=Path("/c"), log=Path("/l"))
    )


def test_the_telling_line_of_an_unknown_failure() -> None:
    version, output, _ = OUTPUTS["something-else"]
    assert diagnose(output, parse(version)) == InstallFailure(Problem.OTHER, "hash mismatch")


def test_credentials_of_an_index_are_not_repeated() -> None:
    assert redact("GET https://me:s3cret@host/simple failed") == "GET https://***@host/simple failed"
