"""What to try when no entry knows a failure: no match is better than a wrong one, but it is no place to stop."""

from __future__ import annotations

from triage.model.diagnosis import Diagnosis, Trait


def next_steps(found: Diagnosis, have_case: bool) -> tuple[str, ...]:
    """Commands and variables that say more about this kind of failure, most telling first. None for a case whose
    failure is in the user's own source: that is all there is to say."""
    ours = found.kind.has(Trait.COMPILER_MESSAGE | Trait.WORDLESS)
    if have_case and not ours:
        return ()
    steps = []
    if not have_case:
        if found.kind.has(Trait.WORDLESS):
            # Off by default since triton-lang/triton#4423; on 3.0 and 3.1 the variable does nothing.
            steps.append("run it with TRITON_ENABLE_PYTHON_STACKTRACE=1 (3.2 and later): the C++ stack of the crash")
        if found.kind.has(Trait.COMPILER_MESSAGE) and found.pass_name is None:
            steps.append("run it with MLIR_ENABLE_DUMP=1 and diagnose that log: it names the pass and its input")
        if "PassManager::run failed" in found.message:
            steps.append("give the whole standard error: the cause is printed there, the exception holds none of it")
        steps.append("compile the kernel alone with triage check FILE.py::KERNEL: it names the stage and the pass")
    if ours:
        steps.append(f"search the compiler's issues for: {_searchable(found)}")
    steps.append("draft an entry with triage kb new, so that the next one to meet this is told")
    return tuple(steps)


def _searchable(found: Diagnosis) -> str:
    """What two people who meet the same bug have in common: the signature without its version and kind."""
    parts = found.signature.split("|")[2:]
    return " ".join(parts) if parts else found.headline
