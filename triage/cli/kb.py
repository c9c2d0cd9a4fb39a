"""``triage kb``: read, validate, re-verify and extend the knowledge base."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from triage import knowledge, logs
from triage.cases import reproducers
from triage.cases.locate import locate
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.knowledge import draft, observed, verify
from triage.knowledge.entry import Entry
from triage.model.errors import InputError
from triage.pipeline import Options, Session
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import knowledge as render_kb
from triage.publish.formats.terminal.text import one_line

_FOLDERS = click.option(
    "--kb", "folders", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Entries of your own."
)
_TIMEOUT_S = 60.0


@click.group("kb")
def command() -> None:
    """Read, validate, re-verify and extend the knowledge base."""


@command.command("list")
@_FOLDERS
@click.option("--json", "as_json", is_flag=True)
def list_(folders: tuple[Path, ...], as_json: bool) -> int:
    """One line an entry."""
    entries = knowledge.load_all(folders)
    if as_json:
        click.echo(json.dumps([render_kb.entry_json(entry) for entry in entries], indent=2))
    else:
        render_kb.listing(console.output(), entries)
    return _complain(folders)


@command.command("show")
@click.argument("name", metavar="ID")
@_FOLDERS
@click.option("--json", "as_json", is_flag=True)
def show(name: str, folders: tuple[Path, ...], as_json: bool) -> int:
    """One entry, whole, with what was observed of its reproducers."""
    entry = _find(name, folders)
    tables = {folder.name: observed.read(folder) for folder in _folders_of([entry])}
    if as_json:
        click.echo(json.dumps({**render_kb.entry_json(entry), "observed": render_kb.tables_json(tables)}, indent=2))
    else:
        render_kb.entry(console.output(), entry, tables)
    return 0


@command.command("check")
@click.argument("names", nargs=-1, metavar="[REPRODUCER...]")
@_FOLDERS
@click.option("--triton", "releases", multiple=True, metavar="VERSION", help="Run on this release. [each case's own]")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N")
@click.option("--no-cache", is_flag=True, help="Compile again what is remembered.")
@click.option("--update", is_flag=True, help="Record what was seen.")
def check(
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    releases: tuple[str, ...],
    jobs: int | None,
    no_cache: bool,
    update: bool,
) -> int:
    """Validate every entry and run every reproducer; exit 1 with the differences when a claim no longer holds."""
    broken = [*knowledge.problems(folders), *_dangling(knowledge.load_all(folders))]
    for line in broken:
        click.echo(one_line(f"triage: {line}"), err=True)
    chosen = [_reproducer(name) for name in names or reproducers.names()]
    with console.progress() as progress:
        toolchains = Toolchains(progress=progress.note)
        store = None if no_cache else Store()
        differences: list[observed.Difference] = []
        undecided: list[str] = []
        with Engine(jobs=jobs, store=store, spare=toolchains.installed) as engine:
            for group, chain in _runs(chosen, releases, toolchains):
                limits = Limits(_TIMEOUT_S, default_memory_bytes())
                seen = verify.run(group, chain, engine, limits, use_cache=not no_cache, done=progress.step)
                undecided += seen.undecided
                differences += _compared(group, seen, update)
    render_kb.checked(console.output(), differences, undecided, len(chosen), update)
    if broken:
        return 2
    if undecided:
        return 3
    # What nobody has claimed yet cannot be wrong.
    return int(any(one.recorded for one in differences) and not update)


@command.command("new")
@click.argument("source", metavar="CASE|LOG")
@click.option("-o", "path", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
def new(source: str, path: Path | None) -> int:
    """Draft an entry from a case (it is triaged) or from a log, to be completed by you."""
    text = _draft(source)
    if path is None:
        click.echo(text, nl=False)
        return 0
    if path.exists():
        raise InputError(f"-o {path}: exists already; name another file")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"-o {path}: cannot be written: {error.strerror}") from None
    click.echo(f"{path}: complete the lines that begin with WRITE, then run triage kb check", err=True)
    return 0


def _draft(source: str) -> str:
    file = Path(source)
    if file.is_file() and file.suffix not in (".json", ".py"):
        found = logs.diagnose_text(file.read_text(encoding="utf-8", errors="replace"))
        if found is None:
            raise InputError(f"{source}: no failure found in it; give a log that holds one, or a case")
        return draft.draft(found, None, None)
    case = locate(source)
    with Session(Options(suggest=False)) as session:
        report = session.check(case)
    if report.diagnosis is None:
        raise InputError(f"{source}: compiles; an entry needs a failure")
    return draft.draft(report.diagnosis, case, source if reproducers.folder(source) else None)


def _find(name: str, folders: tuple[Path, ...]) -> Entry:
    entries = {entry.id: entry for entry in knowledge.load_all(folders)}
    if name not in entries:
        near = [id_ for id_ in entries if name in id_]
        mend = f"did you mean {near[0]}?" if near else "see triage kb list"
        raise InputError(f"kb show {name}: no such entry; {mend}")
    return entries[name]


def _folders_of(entries: Iterable[Entry]) -> list[Path]:
    found = [reproducers.folder(name) for entry in entries for name in entry.reproducers]
    return [folder for folder in found if folder is not None]


def _dangling(entries: Iterable[Entry]) -> list[str]:
    return [
        f"{entry.id}: reproducers: {name!r} does not exist"
        for entry in entries
        for name in entry.reproducers
        if reproducers.folder(name) is None
    ]


def _reproducer(name: str) -> Path:
    folder = reproducers.folder(name)
    if folder is None:
        raise InputError(f"kb check {name}: no such reproducer; there are {', '.join(reproducers.names())}")
    return folder


def _runs(
    folders: list[Path], releases: tuple[str, ...], toolchains: Toolchains
) -> list[tuple[list[Path], list[Toolchain]]]:
    """Which reproducers run on what: all on the releases asked for, else each on the release of its case."""
    if releases:
        return [(folders, [toolchains.resolve(release) for release in releases])]
    by_release: dict[str | None, list[Path]] = {}
    for folder in folders:
        by_release.setdefault(verify.own_release(folder), []).append(folder)
    return [(group, [toolchains.resolve(release)]) for release, group in by_release.items()]


def _compared(folders: Iterable[Path], seen: verify.Seen, update: bool) -> list[observed.Difference]:
    differences = []
    for folder in folders:
        recorded = observed.read(folder)
        tables = seen.tables.get(folder.name, {})
        for variant, table in tables.items():
            differences += observed.compare(folder.name, variant, recorded.get(variant, {}), table)
        if update and tables:
            merged = {
                variant: {**recorded.get(variant, {}), **tables.get(variant, {})} for variant in {*recorded, *tables}
            }
            observed.write(folder, merged)
    return differences


def _complain(folders: tuple[Path, ...]) -> int:
    found = knowledge.problems(folders)
    for line in found:
        click.echo(one_line(f"triage: {line}"), err=True)
    return 2 if found else 0
