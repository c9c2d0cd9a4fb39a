"""A hundred kernels with a second failure nearby: none is ever reduced to the second, and no reproducer takes the
second for the first.

What is true is what the compiler prints: a text that only the first failure prints, and one that only the second does.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from running import sharing_key
from traps.catalogue import QUICK, TRAPS
from traps.shapes import Trap

from triage.harness.engine import Engine
from triage.harness.environment import worker_environment
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.logs.outcomes import diagnose_outcome
from triage.minimize import run as minimize_run
from triage.minimize.failure import Identity, OriginalFailure
from triage.minimize.reproducer import reproducer
from triage.minimize.result import MinimizeOptions, MinimizeResult
from triage.minimize.run import minimize
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.outcome import Outcome, Undecided

_COMPILES, _QUICK = 120, 10
"""Bounds of the reduction: enough to take away whatever goes at once, which is where it would slip."""
_LIMITS = Limits(timeout_s=60, memory_bytes=4 << 30)
_SETTINGS = re.compile(r"(?ms)^_HEADLINE = .*?^_PATIENCE_S = [^\n]*")
_EACH = [pytest.param(trap, id=trap.name, marks=[] if trap.name in QUICK else pytest.mark.slow) for trap in TRAPS]


def printed(outcome: Outcome) -> str:
    """Everything that a compile said."""
    errors = [f"{error.type}: {error.message}" for error in outcome.errors]
    return "\n".join([outcome.log, *errors, outcome.over_limit or ""])


class Bench:
    """Compiles cases, and runs reproducers in fresh processes, with one toolchain."""

    def __init__(self, toolchain: Toolchain) -> None:
        self._toolchain = toolchain

    def compile(self, case: Case) -> Outcome:
        request = Request(case, self._toolchain, _LIMITS, FullCompile(use_cache=False))
        # On the servers that the reduction has as well.
        with Engine(jobs=2) as engine:
            found = next(iter(engine.run([request]))).result
        assert not isinstance(found, Undecided), found.reason
        return found

    def run(self, script: Path, inner: bool = False) -> tuple[int, str]:
        """Exit code and text of a reproducer; ``inner``: of the compile itself, which nobody judges."""
        own = {"TRITON_CACHE_DIR": str(script.parent / "cache"), "TMPDIR": str(script.parent)}
        environment = {**worker_environment(), **own, **({"REPRODUCER_CHILD": "1"} if inner else {})}
        command = [str(self._toolchain.python), str(script)]
        done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    def swapped(self, script: Path, case: Case) -> Path:
        """The reproducer with another kernel in it; what it looks for stays."""
        outcome = self.compile(case)
        diagnosis = diagnose_outcome(outcome, case.path)
        assert diagnosis is not None
        identity = Identity.of(diagnosis)
        failure = OriginalFailure(diagnosis, outcome, identity, identity, 1.0)
        specimen = Specimen(case.path.read_text(encoding="utf-8"), case)
        text = reproducer(specimen, failure, self._toolchain.release)
        looked_for = _SETTINGS.search(script.read_text(encoding="utf-8"))
        assert looked_for is not None
        other = script.with_name(f"swapped-{case.folder.name}.py")
        other.write_text(sharing_key(_SETTINGS.sub(lambda _: looked_for[0], text)), encoding="utf-8")
        return other


@pytest.fixture
def bench(release: Callable[[str], Toolchain]) -> Callable[[Trap], Bench]:
    return lambda trap: Bench(release(trap.triton or "newest"))


def reduced(trap: Trap, folder: Path) -> MinimizeResult:
    most = _QUICK if trap.name in QUICK else _COMPILES
    options = MinimizeOptions(folder / "min", triton=trap.triton, limits=_LIMITS, jobs=2, compiles=most, ir=False)
    return minimize(trap.whole(folder / "whole"), options)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("trap", _EACH)
def test_never_slips(
    trap: Trap, tmp_path: Path, bench: Callable[[Trap], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minimize_run.reproducer, "reproducer", lambda *given: sharing_key(reproducer(*given)))
    machine = bench(trap)
    assert_a_trap(trap, machine, tmp_path)

    done = reduced(trap, tmp_path)

    said = printed(machine.compile(done.case))
    assert re.search(trap.first.says, said), f"slipped: {done.case.path.read_text()}\n{said[-2000:]}"
    assert not re.search(trap.second.says, said), f"both: {done.case.path.read_text()}\n{said[-2000:]}"
    assert done.holds, f"{done.ended}, confirmed {done.confirmed}, reproduced {done.reproduced}"
    script = done.folder / "reproducer.py"
    said = machine.run(script, inner=True)[1]
    assert re.search(trap.first.says, said), said[-2000:]
    for name in ["rest", *(["mended"] if trap.first.mended else [])]:
        case = getattr(trap, name)(tmp_path / name)
        code, judged = machine.run(machine.swapped(script, case))
        # Within the limit that it knows, and it knows no other: what it looks for is gone.
        assert code == (0 if trap.second.at_launch else 125), (
            f"the second failure ({name}), to the first one's reproducer: {code}\n{judged[-2000:]}"
        )


def assert_a_trap(trap: Trap, machine: Bench, folder: Path) -> None:
    """With both it fails in the first way, without the first in the second, and the two are told apart."""
    cases = [trap.whole(folder / "whole"), trap.rest(folder / "rest")]
    outcomes = [machine.compile(case) for case in cases]
    first, second = (diagnose_outcome(outcome, case.path) for outcome, case in zip(outcomes, cases, strict=True))
    assert first is not None
    assert second is not None
    assert first.signature != second.signature
    assert re.search(trap.first.says, printed(outcomes[0]))
    assert re.search(trap.second.says, printed(outcomes[1]))
    assert not re.search(trap.first.says, printed(outcomes[1]))


def test_there_are_a_hundred() -> None:
    assert len(TRAPS) == len({trap.name for trap in TRAPS}) == 100
