"""Finds the jitted functions of a project, and what each parameter is likely to be."""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from triage.drafts.cute import hosts as cute_hosts
from triage.drafts.cute.infer import infer as infer_cute
from triage.drafts.device.kernel_run import kernel_uses
from triage.drafts.device.uses import Uses
from triage.drafts.host.frame import Launch
from triage.drafts.host.launches import Host
from triage.drafts.infer import infer
from triage.drafts.jitted import Jitted, JittedFunctions, dotted, mentions_jit
from triage.drafts.model import JitFunction
from triage.drafts.pointers import never_pointers
from triage.drafts.project import Project
from triage.drafts.project_file import ProjectFile, Scope
from triage.model.errors import InputError


def find(path: Path, name: str | None = None) -> list[JitFunction]:
    """The jitted functions of a file, or of all files of a folder, with what the project around it shows of them.

    ``name``: only those of that name. Raises InputError where there is nothing to read."""
    return search(path, name)[0]


def search(path: Path, name: str | None = None) -> tuple[list[JitFunction], list[str]]:
    """The same, and the files that seem to define some and are not Python, each with the line and the reason."""
    if not path.exists():
        raise InputError(f"{path}: does not exist")
    path = Path(os.path.abspath(path))  # noqa: PTH100 - links are not followed: the files stay the user's own
    with _no_collection():
        project = Project.around(path)
        functions = JittedFunctions(project)
        files = [file for file in project.files.values() if file.path == path or path in file.path.parents]
        wanted = [jitted for file in files for jitted in functions.of(file) if name is None or jitted.name == name]
        top = path if path.is_dir() else path.parent
        malformed = [
            f"{os.path.relpath(file.path, top)}:{file.problem}"
            for file in files
            if mentions_jit(file) and file.problem is not None
        ]
        described = _described(functions, _distinct(wanted))
        return [*described, *_cute(project, files, name)], malformed


def _cute(project: Project, files: list[ProjectFile], name: str | None) -> Iterator[JitFunction]:
    """The host functions of CuTe DSL; what cannot be read of one concerns no other."""
    for host in cute_hosts.find(project, files, name):
        try:
            yield infer_cute(host)
        except (RecursionError, MemoryError):
            continue


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without collections of cycles, which take four fifths of the time in which large trees are parsed."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _distinct(jitted: list[Jitted]) -> list[Jitted]:
    """One function for each name of a file: of two at the top, as below ``if`` and ``else``, the first."""
    names: dict[tuple[Path, str, int], Jitted] = {}
    for each in jitted:
        line = 0 if each.scope.top_level else each.node.lineno
        names.setdefault((each.file.path, each.name, line), each)
    return list(names.values())


def _described(functions: JittedFunctions, wanted: list[Jitted]) -> list[JitFunction]:
    host = Host(functions)
    launches = _launches(functions, host, wanted)
    called = _called_from_kernels(functions, wanted)
    result = []
    for jitted in wanted:
        own = launches.get(jitted, [])
        # One that is neither launched nor called is a library's own: launched from elsewhere, unless it returns a
        # value.
        launched = bool(own) or jitted.tuned or (jitted not in called and not jitted.returns)
        result.append(
            infer(jitted, own, _uses(jitted, functions, own), launched, _obstacle(jitted), functions.project.half)
        )
    return result


def _launches(functions: JittedFunctions, host: Host, wanted: list[Jitted]) -> dict[Jitted, list[Launch]]:
    """Launches of kernels, by kernel: in the functions that launch something, in files that name one of them."""
    files = {
        file: None
        for jitted in wanted
        for name in _names(functions, jitted)
        for file in functions.project.mentioning(name)
    }
    launches: dict[Jitted, list[Launch]] = {}
    for file in files:
        scopes = [scope for scope in file.scopes if functions.at(scope) is None and _may_launch(scope)]
        for launch in chain.from_iterable(_read(host, scope) for scope in scopes):
            if all(launch.node is not other.node for other in launches.get(launch.kernel, [])):
                launches.setdefault(launch.kernel, []).append(launch)
    return launches


def _read(host: Host, scope: Scope) -> list[Launch]:
    """The launches of a function; none where it cannot be read: host code may be anything, and a kernel whose launch is
    not understood is still drafted by its uses."""
    try:
        return list(host.launches([scope]))
    except Exception:
        return []


def _names(functions: JittedFunctions, jitted: Jitted) -> set[str]:
    """Names under which a kernel may be launched: its own, and those of what wraps it in its file."""
    names = {jitted.name, jitted.node.name}
    for name, values in jitted.file.definitions.items():
        if any(isinstance(value, ast.Call) and names & _words(value) for value in values):
            names.add(name)
    return names


def _words(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _may_launch(scope: Scope) -> bool:
    """Whether a function launches something, or passes a kernel to what does."""
    for call in scope.calls:
        match call:
            case ast.Call(func=ast.Subscript() | ast.Attribute(attr="run" | "warmup")):
                return True
            case ast.Call(args=[ast.Name(id=name), *_]) if "kernel" in name:
                return True
    return False


def _called_from_kernels(functions: JittedFunctions, wanted: list[Jitted]) -> set[Jitted]:
    """Jitted functions that another jitted function names."""
    called: set[Jitted] = set()
    names = {jitted.node.name for jitted in wanted} | {jitted.name for jitted in wanted}
    files = {file: None for jitted in wanted for file in functions.project.mentioning(jitted.node.name)}
    for file in files:
        for caller in functions.of(file):
            for statement in caller.node.body:
                for node in ast.walk(statement):
                    last = node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)
                    if last in names and (name := dotted(node)):
                        jitted = functions.named(file, name)
                        if jitted is not None and jitted is not caller:
                            called.add(jitted)
    return called


def _uses(jitted: Jitted, functions: JittedFunctions, launches: list[Launch]) -> Uses:
    return kernel_uses(jitted, functions, never_pointers(jitted, launches))


def _obstacle(jitted: Jitted) -> str | None:
    """Why a case cannot name the function."""
    scope = jitted.scope
    if scope.owner is not None:
        return f"defined in the class {scope.owner.name}"
    if scope.outer is not None and not isinstance(scope.outer.node, ast.Module):
        return f"defined inside the function {scope.outer.name}, with values that only a call of that has"
    return None
