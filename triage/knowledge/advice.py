"""Next steps for a failure that no entry matches."""

from triage.model.diagnosis import Diagnosis, Kind, Trait


def next_steps(diagnosis: Diagnosis, have_case: bool) -> tuple[str, ...]:
    """Commands and variables that reveal more about this kind of failure, most informative first.

    Empty for a case whose failure is in the user's own source, and for a failure of another program: nothing more can
    be learnt there.
    """
    if diagnosis.kind is Kind.OTHER:
        return ()
    in_compiler = diagnosis.kind.has(Trait.COMPILER_MESSAGE | Trait.WORDLESS)
    if have_case and not in_compiler:
        return ()
    steps = []
    if not have_case:
        if diagnosis.kind.has(Trait.WORDLESS):
            # Off by default since triton-lang/triton#4423; on 3.0 and 3.1 the variable does nothing.
            steps.append("run it with TRITON_ENABLE_PYTHON_STACKTRACE=1 (3.2 and later): the C++ stack of the crash")
        if diagnosis.kind.has(Trait.COMPILER_MESSAGE) and diagnosis.pass_name is None:
            steps.append("run it with MLIR_ENABLE_DUMP=1 and diagnose that log: it names the pass and its input")
        if "PassManager::run failed" in diagnosis.message:
            steps.append("diagnose the whole standard error: it contains the cause, which the exception does not")
        if diagnosis.kind is not Kind.ENVIRONMENT:
            steps.append("compile the kernel alone with triage check FILE.py::KERNEL: it names the stage and the pass")
    if in_compiler:
        steps.append(f"search the compiler's issues for: {_search_terms(diagnosis)}")
    steps.append("draft an entry with triage kb new, so that this failure is known next time")
    return tuple(steps)


def _search_terms(diagnosis: Diagnosis) -> str:
    """The part of the failure that two people with the same bug share: the signature without version and kind."""
    parts = diagnosis.signature.split("|")[2:]
    return " ".join(parts) if parts else diagnosis.headline
