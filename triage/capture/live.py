"""The guard inside a program that imports triage: ``with triage.guard():`` and ``triage.early_config_prune``."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.capture.awaited import FOLLOWED, AwaitedCompilers
from triage.capture.service.start import DEFAULT_TIMEOUT_S, Settings, end_services, variable
from triage.filesystem import scratch
from triage.filesystem.files import remove_tree
from triage.filesystem.scratch import Scratch
from triage.model.errors import InputError, TriageError
from triage.model.words import count

_PACKAGE = "_triton_triage_capture"
"""Module name that ``triage run`` uses as well, so that a process has one guard, however it was started."""


def program(module: str) -> Any:
    """A module of ``capture/program``, loaded into this process under its own name."""
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


class guard:  # noqa: N801 - used in a with statement
    """Tries compiles of this process, in all threads, in isolation first: ``with triage.guard() as guarded:``.

    A configuration that kills the compiler, hangs it or exhausts memory raises an exception that Triton's autotuner
    skips; one that compiles is put into Triton's cache. CuTe DSL has no cache that is asked first: the program compiles
    what the guard has tried.

    ``timeout_s``: seconds a compile may take. ``memory``: a size such as ``8GiB``. ``folder``: where failing cases are
    kept, by default a new temporary folder. ``quiet``: no summary on standard error at the end. Raises InputError for
    an invalid size, and ImportError without Triton or CuTe DSL. Where no file can be made, nothing is guarded, which a
    line on standard error states."""

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
        self._settings = Settings(timeout_s, size, jobs, cache, tuple(str(entry) for entry in knowledge))
        self._folder, self._quiet = folder, quiet
        self._first, self._folder_before, self._followed = 0, "", 0
        self._awaited: AwaitedCompilers | None = None

    def __enter__(self) -> guard:
        if not any(name in sys.modules or importlib.util.find_spec(name) for name in program("values").COMPILERS):
            raise ImportError("neither Triton nor CuTe DSL is installed: there is nothing to guard")
        self._folder_before = program("folder").path()
        try:
            _connect(self._settings, self._folder)
        except (TriageError, OSError) as error:
            _tell([f"compiles are not guarded: {error}"])
            return self
        self._first = len(program("guard").refused())
        self._awaited = AwaitedCompilers(self._follow, program("folder").note)
        return self

    def _follow(self, compiler: Any) -> None:
        _guard(compiler)
        self._followed += 1

    def __exit__(self, *ended: object) -> None:
        if self._awaited is None:
            return
        self._awaited.stop()
        self._awaited = None
        for _ in range(self._followed):
            program("guard").stop()
        self._followed = 0
        program("folder").use(self._folder_before)
        if not self._quiet:
            _tell(program("guard").troubles())
            if self.refused:
                print(self.summary(), file=sys.stderr)

    @property
    def refused(self) -> Sequence[Any]:
        """Refused configurations so far, with ``text``, ``headline``, ``configuration``, ``path`` of the case,
        ``seconds`` that the compile took, and ``met``, how often it was requested."""
        refused: Sequence[Any] = program("guard").refused()
        return refused[self._first :]

    def summary(self) -> str:
        """What was skipped, why, and what that saved."""
        return summary(self.refused)


def compile_failed() -> type[Exception]:
    """The base class of refused compiles. Each is also of the classes that Triton's autotuner catches on this release,
    or of CuTe DSL's own."""
    exception: type[Exception] = program("refusal").CompileFailed
    return exception


def summary(refused: Sequence[Any]) -> str:
    """Summary lines for refused configurations."""
    lines = [f"triage: the guard skipped {count(len(refused), 'configuration')}"]
    for config in refused:
        again = f", asked for {config.met} times" if config.met > 1 else ""
        lines.append(f"  {config.text.splitlines()[0]}{again}")
        lines.append(f"    triage check {config.path}")
    saved = sum(config.seconds * (config.met - 1 + config.remembered) for config in refused)
    repeated = sum(config.met - 1 + config.remembered for config in refused)
    again = f", and {count(repeated, 'compile')} ({saved:.1f} s) not repeated" if repeated else ""
    lines.append(f"  saved: {count(len(refused), 'end')} of this program{again}")
    return "\n".join(lines)


def begin(compiler: Any, settings: Settings, folder: str | os.PathLike[str] | None = None) -> None:
    """Guard this process's compiles from now on; call ``program("guard").stop()`` once for each.

    ``compiler`` is a module of ``awaited.FOLLOWED``; Triton may still be importing."""
    _connect(settings, folder)
    _guard(compiler)


def is_guarded() -> bool:
    """Whether a guard has begun in this process."""
    return bool(program("guard").service_description())


def _guard(compiler: Any) -> None:
    # Child processes share the service.
    os.environ.setdefault(program("service").VARIABLE, program("guard").service_description())
    watch = program(FOLLOWED[compiler.__name__])
    watch.install(compiler)
    watch.start_guard(compiler)


def say_at_exit(pid: int) -> None:
    """Print the summary on standard error when the process that started the guard exits."""
    if os.getpid() != pid:
        return
    _tell(program("guard").troubles())
    refused = program("guard").refused()
    if refused:
        print(summary(refused), file=sys.stderr)


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"triage: {line}", file=sys.stderr)


def _connect(settings: Settings, folder: str | os.PathLike[str] | None) -> None:
    """Have a folder for captures, and a service. Settings inherited from the environment take precedence: under
    ``triage run`` folder and service belong to the run."""
    if folder is not None or not program("folder").path():
        program("folder").use(_folder(folder))
    if not program("guard").service_description():
        inherited = os.environ.get(program("service").VARIABLE)
        program("guard").use(inherited or _service(settings))


def _service(settings: Settings) -> str:
    sockets = scratch.new("guard").folder
    atexit.register(_end_services, sockets, os.getpid())
    return variable(sockets, settings)


def _end_services(sockets: Path, pid: int) -> None:
    """Let the services end as soon as the last of this process and its children has."""
    if os.getpid() == pid:
        end_services(sockets)
        scratch.remove_empty(sockets)


def _folder(folder: str | os.PathLike[str] | None) -> str:
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return str(Path(folder).absolute())
    home = scratch.new("guarded")
    # An exception names the case that it is about, and may be the last that the program prints.
    home.keep()
    atexit.register(_tidy, home, os.getpid())
    return str(home.folder)


def _tidy(home: Scratch, pid: int) -> None:
    """Remove triage's own folder if it holds no case."""
    if os.getpid() == pid and not home.has_results:
        remove_tree(home.folder)  # its lock ends with this process, which may have closed it and use its number
        scratch.remove_empty(home.folder)


def early_config_prune(configs: list[Any], named_args: Mapping[str, Any], **kwargs: Any) -> list[Any]:
    """For ``triton.autotune(prune_configs_by={"early_config_prune": triage.early_config_prune})``, or to call from your
    own pruning function with its arguments.

    Returns the members of ``configs`` that compile, in order. They are compiled in parallel and in isolation, and are
    in Triton's cache afterwards. A configuration about which triage could not tell stays. When none compiles, raises
    the exception that the release's autotuner treats as a configuration that does not work; its text names each failure
    once and the nearest configuration that compiles. Raises InputError outside an autotuner."""
    tuner = _tuner()
    from triton.compiler import compiler

    folder_before = program("folder").path()
    try:
        _connect(Settings(), None)
    except (TriageError, OSError) as error:
        _tell([f"configurations are not tried: {error}"])
        return list(configs)
    program("watch").install(compiler)
    program("watch").follow_cache(compiler)
    guard_, tuning = program("guard"), program("tuning")
    try:
        tried = tuning.attempt(tuner, list(configs), dict(named_args), kwargs, keep=True)
        failed = [
            attempt
            for attempt in tried
            if attempt.error or (attempt.raises and tuning.raised(tuner, attempt.config, named_args, kwargs))
        ]
    finally:
        program("folder").use(folder_before)
    if failed and len(failed) == len(tried):
        text = guard_.everything_failed(tuner.base_fn.__name__, [attempt.failure for attempt in failed], failed[0].path)
        raise program("refusal").refusal(text, "triton") from failed[-1].error
    return [attempt.config for attempt in tried if attempt not in failed]


def _tuner() -> Any:
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        caller = frame.f_locals.get("self")
        if "autotuner" in frame.f_code.co_filename and hasattr(caller, "configs"):
            return caller
    raise InputError("early_config_prune: only within an autotuner, as prune_configs_by={'early_config_prune': …}")
