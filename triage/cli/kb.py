"""``triage kb``: read, validate, re-verify and extend the knowledge base."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from triage import knowledge, logs
from triage.cases import reproducers
from triage.cases.locate import locate
from triage.cli.options import DIRECTORY, FILE, note, print_json
from triage.filesystem.files import ANYWHERE, open_file, replace_file, usable_file, writing
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.knowledge import history, observed, verify
from triage.knowledge.draft import draft, slug
from triage.knowledge.entry import PLACEHOLDER, Entry
from triage.matrix.releases import select
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON, Compiler
from triage.model.diagnosis import Diagnosis
from triage.model.document import encode
from triage.model.errors import InputError
from triage.model.match import Match
from triage.pipeline import Options, Session
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import knowledge as render_kb

_FOLDERS = click.option(
    "--kb", "folders", multiple=True, type=DIRECTORY, metavar="DIR", help="Use your own entries too."
)
_TIMEOUT_S = 60.0


@click.group("kb")
def command() -> None:
    """Read, validate, re-verify and extend the knowledge base."""


@command.command("list")
@_FOLDERS
@click.option("--json", "as_json", is_flag=True, help="Print the entries as JSON.")
def list_(folders: tuple[Path, ...], as_json: bool) -> int:
    """List all entries, one line each."""
    entries = knowledge.load_all(folders)
    if as_json:
        print_json(encode(entries))
    else:
        render_kb.listing(console.output(), entries)
    errors = knowledge.problems(folders)
    _print_errors(errors)
    return 2 if errors else 0


@command.command("show")
@click.argument("name", metavar="ID")
@_FOLDERS
@click.option("--json", "as_json", is_flag=True, help="Print the entry as JSON.")
def show(name: str, folders: tuple[Path, ...], as_json: bool) -> int:
    """Print one entry, with what was observed of its reproducers."""
    entries = {entry.id: entry for entry in knowledge.load_all(folders)}
    if name not in entries:
        near = [id_ for id_ in entries if name in id_]
        hint = f"did you mean {near[0]}?" if near else "see triage kb list"
        raise InputError(f"kb show {name}: no such entry; {hint}")
    entry = entries[name]
    tables = {folder.name: observed.read(folder) for folder in _reproducers_of(entry)}
    if as_json:
        print_json({**encode(entry), "observed": encode(tables)})
    else:
        render_kb.entry(console.output(), entry, tables)
    return 0


@command.command("check")
@click.argument("names", nargs=-1, metavar="[REPRODUCER|ID]...")
@_FOLDERS
@click.option(
    "--triton",
    "of_triton",
    multiple=True,
    metavar="VERSIONS",
    help="Run Triton's on these: 3.2, 3.0..3.9, all. [each case's own]",
)
@click.option(
    "--cute",
    "of_cute",
    multiple=True,
    metavar="VERSIONS",
    help="Run those of CuTe DSL on these: 4.8, 4.2..4.8, all. [each case's own]",
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Compiles at a time. [cores]")
@click.option("--no-cache", is_flag=True, help="Repeat compiles whose results are stored.")
@click.option("--missing", is_flag=True, help="Run only what is not recorded yet.")
@click.option("--update", is_flag=True, help="Record what is observed.")
def check(
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    of_triton: tuple[str, ...],
    of_cute: tuple[str, ...],
    jobs: int | None,
    no_cache: bool,
    missing: bool,
    update: bool,
) -> int:
    """Validate all entries and run reproducers.

    Without arguments all reproducers run, else those named and those of the entry ID. Where releases are given, only
    the reproducers of their compiler run. Exit codes: 1 with the
    differences if a claim is no longer true, 2 if an entry is wrong, 3 if a compile could not be decided.
    """
    entries = knowledge.load_all(folders)
    errors = [
        *knowledge.problems(folders),
        *(
            f"{entry.id}: reproducers: {name!r} does not exist"
            for entry in entries
            for name in entry.reproducers
            if reproducers.folder(name) is None
        ),
    ]
    _print_errors(errors)
    chosen = _chosen(names, entries, bool(errors))
    with console.progress() as progress:
        toolchains = Toolchains(progress=progress.note)
        store = None if no_cache else Store(note=progress.warn)
        deviations: list[observed.Deviation] = []
        undecided: list[str] = []
        contradictions: list[str] = []
        with Engine(jobs=jobs, store=store, spare=toolchains.installed) as engine:
            requested = {TRITON: of_triton, CUTE: of_cute}
            for (compiler, release), group in _runs(chosen, requested, toolchains, missing).items():
                limits = Limits(_TIMEOUT_S, default_memory_bytes())
                toolchain = toolchains.resolve(release, compiler=compiler)
                results = verify.run(group, [toolchain], engine, limits, use_cache=not no_cache, done=progress.step)
                undecided += results.undecided
                deviations += _compared(group, compiler, results, update)
                contradictions += verify.contradictions(results.failures, entries)
    contradictions += history.contradictions(entries)
    _print_errors(contradictions)
    render_kb.checked(console.output(), deviations, undecided, len(chosen), update)
    if errors or contradictions:
        return 2
    if undecided:
        return 3
    # An observation that is not recorded yet contradicts no claim.
    return int(any(deviation.recorded for deviation in deviations) and not update)


@command.command("new")
@click.argument("source", metavar="CASE|LOG")
@_FOLDERS
@click.option("-o", "path", type=FILE, metavar="ID.toml", help="Write it to this file.")
def new(source: str, folders: tuple[Path, ...], path: Path | None) -> int:
    """Draft an entry from a CASE, which is compiled, or from a LOG. Complete it by hand."""
    if path is not None and path.exists():
        raise InputError(f"-o {path}: exists already; name another file")
    if path is not None and path.suffix != ".toml":
        raise InputError(f"-o {path}: an entry is a TOML file; name it {path.stem}.toml")
    if path is not None:
        usable_file("-o", path)
    diagnosis, case, matches = _triaged(source, folders)
    for match in matches:
        entry = f"{match.id} ({match.confidence:.0%}): {match.title}"
        if match.generic:
            note(f"of a family of causes: {entry}")
        else:
            note(f"known already: {entry}; extend that entry unless the cause is different")
    reproducer = source if case is not None and reproducers.folder(source) else None
    text = draft(path.stem if path else slug(diagnosis), diagnosis, case, reproducer)
    if path is None:
        click.echo(text, nl=False)
        return 0
    with writing(f"-o {path}"):
        replace_file(path, text)
    click.echo(f"{path}: replace the texts that begin with {PLACEHOLDER} and run triage kb check {path.stem}", err=True)
    return 0


def _triaged(source: str, folders: tuple[Path, ...]) -> tuple[Diagnosis, Case | None, tuple[Match, ...]]:
    """The failure of a case or a log, the case if the source is a case, and the entries that match."""
    file = Path(source)
    if file.is_file() and file.suffix not in (".json", ".py"):
        try:
            with open_file(file, ANYWHERE) as stream:
                diagnosis = logs.diagnose_text(stream)
        except OSError as error:
            raise InputError(f"{source}: cannot be read: {error.strerror}") from None
        if diagnosis is None:
            raise InputError(f"{source}: contains no failure; give a log that contains one, or a case")
        return diagnosis, None, tuple(knowledge.match(diagnosis, knowledge.load_all(folders), None))
    case = locate(source)
    with Session(Options(suggest=False, knowledge=folders)) as session:
        report = session.check(case)
    if report.diagnosis is None:
        raise InputError(f"{source}: compiles; an entry needs a failure")
    return report.diagnosis, case, tuple(report.matches)


def _reproducers_of(entry: Entry) -> list[Path]:
    folders = [reproducers.folder(name) for name in entry.reproducers]
    return [folder for folder in folders if folder is not None]


def _chosen(names: Iterable[str], entries: Iterable[Entry], has_errors: bool) -> list[Path]:
    """The folders of the reproducers to run: those named by themselves or by their entry, all if none is named."""
    by_id = {entry.id: entry for entry in entries}
    chosen: dict[Path, None] = {}
    for name in names or reproducers.names():
        folder = reproducers.folder(name)
        if folder is not None:
            chosen[folder] = None
        if name in by_id:
            chosen.update(dict.fromkeys(_reproducers_of(by_id[name])))
        elif folder is None and not has_errors:
            # With errors, the name may be that of an invalid entry, which has been printed.
            raise InputError(f"kb check {name}: no such entry or reproducer; see triage kb list")
    return list(chosen)


def _runs(
    folders: list[Path], requested: Mapping[Compiler, tuple[str, ...]], toolchains: Toolchains, missing: bool
) -> dict[tuple[Compiler, str | None], list[Path]]:
    """Release of a compiler → reproducers to run on it: all of the compiler on those requested, else each on that of
    its case. With ``missing``, those alone that have no observation of the release."""
    runs: dict[tuple[Compiler, str | None], list[Path]] = {}
    chosen = {
        compiler: select(texts, [each.release for each in toolchains.installed(compiler)], compiler).chosen
        for compiler, texts in requested.items()
        if texts
    }
    owned = {folder: verify.own_release(folder) for folder in folders}
    if chosen and not any(compiler in chosen for compiler, _ in owned.values()):
        named = " and ".join(compiler.option for compiler in chosen)
        raise InputError(f"kb check {named}: none of the reproducers is for that compiler; name one that is")
    for folder, (compiler, own) in owned.items():
        for release in chosen.get(compiler, ()) if chosen else (own,):
            if not (missing and verify.is_recorded(folder, release)):
                runs.setdefault((compiler, release), []).append(folder)
    return runs


def _compared(
    folders: Iterable[Path], compiler: Compiler, results: verify.Observed, update: bool
) -> list[observed.Deviation]:
    """Compare with what is recorded; with ``update``, record the new observations."""
    deviations = []
    for folder in folders:
        recorded = observed.read(folder)
        tables = results.tables.get(folder.name, {})
        for variant, table in tables.items():
            deviations += observed.compare(folder.name, variant, compiler, recorded.get(variant, {}), table)
        if update and tables:
            merged = {
                variant: {**recorded.get(variant, {}), **tables.get(variant, {})} for variant in {*recorded, *tables}
            }
            observed.write(folder, merged)
    return deviations


def _print_errors(lines: Iterable[str]) -> None:
    for line in lines:
        note(line)
