"""The guard in a program that has triage: ``with triage.guard():`` and ``triage.early_config_prune``."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from triage.capture.service.start import DEFAULT_TIMEOUT_S, Settings, variable
from triage.model.errors import InputError

_PACKAGE = "_triton_triage_capture"
"""The name under which ``triage run`` puts the same package into a program: there is one guard, whoever began it."""


def program(module: str) -> Any:
    """A module of the package that follows compiles in this process."""
    if _PACKAGE not in sys.modules:
        folder = Path(__file__).resolve().parent / "program"
        spec = importlib.util.spec_from_file_location(
            _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[_PACKAGE] = package
        spec.loader.exec_module(package)
    return importlib.import_module(f"{_PACKAGE}.{module}")


class Guard:
    """``with triage.guard() as guarded:`` — compiles of this process, in all of its threads, are tried in isolation
    first.

    A configuration that kills the compiler, hangs it or takes all memory raises an exception that Triton's autotuner
    passes over; one that compiles lands in Triton's cache. ``timeout_s``: seconds a compile may take; ``memory``: a
    size such as ``8GiB``; ``folder``: where the cases of what fails are kept, by default a new temporary one.
    ``quiet``: no summary on standard error at the end. Raises InputError for a size that is none, and ImportError
    without Triton.
    """

    def __init__(
        self,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        memory: str | None = None,
        jobs: int | None = None,
        folder: str | os.PathLike[str] | None = None,
        knowledge: Sequence[str] = (),
        cache: bool = True,
        quiet: bool = False,
    ) -> None:
        from triage.harness.limits import parse_size

        if timeout_s <= 0:
            raise InputError(f"timeout_s={timeout_s}: more than 0 seconds")
        size = parse_size(memory) if memory is not None else None
        self._settings = Settings(timeout_s, size, jobs, cache, tuple(str(one) for one in knowledge))
        self._folder, self._quiet = folder, quiet
        self._first, self._place_before = 0, ""

    def __enter__(self) -> Guard:
        self._place_before = program("folder").place()
        start(self._settings, self._folder)
        self._first = len(program("guard").refused())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        program("guard").stop()
        program("folder").use(self._place_before)
        if not self._quiet and self.refused:
            print(self.summary(), file=sys.stderr)

    @property
    def refused(self) -> Sequence[Any]:
        """The configurations that were not let through so far: ``text``, ``headline``, ``configuration``, the ``path``
        of the case, ``seconds`` that its compile took, ``met``, how often it was asked for."""
        found: Sequence[Any] = program("guard").refused()[self._first :]
        return found

    def summary(self) -> str:
        """What was skipped, why, and what that saved."""
        return summary(self.refused)


def compile_failed() -> type[Exception]:
    """The class that refused compiles raise: what Triton's autotuner catches on this release, and no more."""
    import triton.runtime  # noqa: F401 - its bases are there

    found: type[Exception] = program("refusal").kind()
    return found


def guard(**settings: Any) -> Guard:
    """Crash-proof compiles in this process; the parameters are :class:`Guard`'s."""
    return Guard(**settings)


def summary(refused: Sequence[Any]) -> str:
    """Some lines on configurations that were refused."""
    lines = [f"triage: the guard skipped {_many(len(refused), 'configuration')}"]
    for one in refused:
        again = f", asked for {one.met} times" if one.met > 1 else ""
        lines.append(f"  {one.text.splitlines()[0]}{again}")
        lines.append(f"    triage check {one.path}")
    saved = sum(one.seconds * (one.met - 1 + one.remembered) for one in refused)
    repeated = sum(one.met - 1 + one.remembered for one in refused)
    again = f", and {_many(repeated, 'compile')} ({saved:.1f} s) not repeated" if repeated else ""
    lines.append(f"  saved: {_many(len(refused), 'end')} of this program{again}")
    return "\n".join(lines)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def start(settings: Settings, folder: str | os.PathLike[str] | None = None) -> None:
    """Guard this process's compiles from now on; one ``program("guard").stop()`` is due for each."""
    from triton.compiler import compiler

    begin(compiler, settings, folder)


def begin(compiler: Any, settings: Settings, folder: str | os.PathLike[str] | None = None) -> None:
    """The same where ``triton.compiler.compiler`` is there, and Triton may not be whole yet."""
    _follow(compiler, settings, folder)
    # Child processes share the service.
    os.environ.setdefault(program("service").VARIABLE, program("guard").service_told())
    program("watch").start_guard(compiler)


def say_at_exit(pid: int) -> None:
    """The summary on standard error, when the process ends that has begun the guard."""
    refused = program("guard").refused()
    if os.getpid() == pid and refused:
        print(summary(refused), file=sys.stderr)


def _follow(compiler: Any, settings: Settings, folder: str | os.PathLike[str] | None = None) -> None:
    """Have this process's compiles followed, and a service for them. What the program was started with counts: under
    ``triage run`` both the folder and the service are the run's."""
    if folder is not None or not program("folder").place():
        program("folder").use(_folder(folder))
    if not program("guard").has_service():
        told = os.environ.get(program("service").VARIABLE)
        program("guard").use(told or variable(Path(tempfile.mkdtemp(prefix="triage-g-")), settings))
    program("watch").install(compiler)


def _folder(folder: str | os.PathLike[str] | None) -> str:
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return str(Path(folder).absolute())
    made = tempfile.mkdtemp(prefix="triage-guard-")
    atexit.register(_tidy, Path(made), os.getpid())
    return made


def _tidy(folder: Path, pid: int) -> None:
    """Nothing is left of a folder of triage's own that has no case in it."""
    if os.getpid() == pid:
        with suppress(OSError):
            (folder / "tally").unlink(missing_ok=True)
            folder.rmdir()


def early_config_prune(configs: list[Any], named_args: Mapping[str, Any], **given: Any) -> list[Any]:
    """For ``triton.autotune(prune_configs_by={"early_config_prune": triage.early_config_prune})``, or to be called by a
    pruning function of one's own with what that was given.

    Returns those of ``configs`` that compile, in their order: they are compiled in parallel and in isolation, and what
    compiles is in Triton's cache afterwards. A configuration about which triage could not tell stays. Raises what the
    autotuner of the release takes for a configuration that does not work when none compiles; its text names each
    failure once, and the nearest configuration that compiles. Raises InputError outside of an autotuner.
    """
    tuner = _tuner()
    from triton.compiler import compiler

    place = program("folder").place()
    _follow(compiler, Settings())
    program("watch").follow_cache(compiler)
    guard_, tuning = program("guard"), program("tuning")
    try:
        tried = tuning.attempt(tuner, list(configs), dict(named_args), given, keep=True)
        failed = [
            one for one in tried if one.error or (one.raises and tuning.raised(tuner, one.config, named_args, given))
        ]
    finally:
        program("folder").use(place)
    if failed and len(failed) == len(tried):
        text = guard_.everything_failed(tuner.base_fn.__name__, [one.failure for one in failed], failed[0].path)
        raise program("refusal").refusal(text) from failed[-1].error
    return [one.config for one in tried if one not in failed]


def _tuner() -> Any:
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        found = frame.f_locals.get("self")
        if "autotuner" in frame.f_code.co_filename and hasattr(found, "configs"):
            return found
    raise InputError("early_config_prune: only within an autotuner, as prune_configs_by={'early_config_prune': …}")
