"""A Case: one kernel, one configuration, one target. Plain, immutable, and the same on disk (case.json)."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeAlias

from triage.filesystem.files import MOST_SOURCE, read_file, resolved
from triage.model.compilers import CUTE, Compiler
from triage.model.document import Doc, Documented, Internal, Name
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.target import Target

SCHEMA = "triton-triage/case/1"

Frozen: TypeAlias = Mapping[str, Any]
"""A read-only mapping of JSON values."""

SLICED = "sliced"
"""The entry of a case's origin which states that its files were cut out of others."""

IR_ENDINGS = frozenset({".source", ".glir", ".ttir", ".ttgir", ".llir", ".ll", ".ptx", ".amdgcn", ".mlir"})
"""File name endings of kernels that are a stage's IR (``.source``: the front end); ``.mlir`` is a module with the
pipeline that MLIR's reproducer names."""


MOST_IR = 64 << 20
"""Bytes of a text of IR; the largest of a failing kernel that was seen has 3 MB."""
KERNEL_FILE = "the name of the kernel's source file in this folder"


def frozen(value: Mapping[str, Any] | None = None) -> Frozen:
    """A read-only copy."""
    return MappingProxyType(dict(value or {}))


@dataclass(frozen=True, slots=True)
class Case(Documented):
    """One kernel in one configuration.

    ``signature`` maps argument names to Triton types (``*fp16``, ``i32``); ``constexprs`` maps compile-time
    arguments to JSON values, where ``tl.float32`` and ``gl.NVMMASharedLayout(128, 16, 2)`` name Triton objects;
    ``divisible`` maps argument names to the known divisor in elements or bytes (16, or 1 for none); left out,
    pointers count as divisible by 16. ``options`` are the backend's own (``num_warps``, ``num_stages``, …); null means
    the backend's default.
    ``inputs`` say how to make the arguments of a launch (see ``triage/model/inputs.py``); empty where the case does
    not say, and no part of what is compiled. ``boundary`` is the folder that links do not lead out of: None for
    ``folder``, ``ANYWHERE`` for the user's own sources. ``slice``: a copy of the kernel's file in which only what the
    kernel reaches is left; that is compiled, and its imports lie in ``boundary``.
    """

    schema_name: ClassVar[str] = SCHEMA

    folder: Internal[Path]
    file: Annotated[Name, Doc("The source file, in the case's folder.", name="kernel.file", words=KERNEL_FILE)]
    name: Annotated[Name, Doc("The function.", name="kernel.name", words="the name of a function")]
    signature: Annotated[Frozen, Doc("Argument names and types.", schema={"additionalProperties": {"type": "string"}})]
    constexprs: Annotated[Frozen, Doc("Compile-time arguments; tl.float32 and the like name Triton's objects.")] = (
        field(default_factory=frozen)
    )
    divisible: Annotated[Frozen, Doc("Known divisors.", schema={"additionalProperties": {"enum": [1, 16]}})] = field(
        default_factory=frozen
    )
    target: Annotated[Target, Doc("cuda:90, hip:gfx942.", schema={"pattern": "^[a-z]+:[A-Za-z0-9]+$"})] = field(
        default_factory=lambda: Target("cuda", "90")
    )
    options: Annotated[Frozen, Doc("The backend's own options.")] = field(default_factory=frozen)
    language: Language = Language.TRITON
    triton: Annotated[str | None, Doc(name="toolchain.triton", optional=True, words="a version such as '3.2.0'")] = None
    cute: Annotated[str | None, Doc(name="toolchain.cute", optional=True, words="a version such as '4.8.1'")] = None
    construct: Annotated[Frozen, Doc("Arguments of the constructor, where the kernel is a class.", optional=True)] = (
        field(default_factory=frozen)
    )
    origin: Annotated[Frozen, Doc("Where the case comes from; free.")] = field(default_factory=frozen)
    inputs: Annotated[Frozen, Doc("How to make the arguments of a launch.", optional=True)] = field(
        default_factory=frozen
    )
    boundary: Internal[Path | None] = field(default=None, compare=False)
    slice: Internal[Path | None] = None

    def __post_init__(self) -> None:
        # As Triton takes it: a null is an option that is not stated.
        stated = {name: value for name, value in self.options.items() if value is not None}
        object.__setattr__(self, "options", frozen(stated))

    @property
    def path(self) -> Path:
        """The kernel's source file, as it is called in messages."""
        return self.folder / self.file

    @property
    def top(self) -> Path:
        """The absolute path of the folder that the case's files lie in."""
        return _absolute(self.boundary or self.folder)

    @property
    def location(self) -> Path:
        """The absolute path of the kernel's file, as it is imported. A link stays one, as what it imports is beside it;
        but one that leads into a package, and lies in none, is the package's module."""
        if self.slice is not None:
            return self.slice
        path = _absolute(self.path.parent) / self.path.name
        real = resolved(path)
        return real if _in_package(real) and not _in_package(path) else path

    def read(self) -> bytes:
        """The content of the file that is compiled. Raises OSError; LeavesFolder."""
        return read_file(self.slice or self.path, self.top, MOST_IR if self.is_ir else MOST_SOURCE)

    def text(self) -> str:
        """The kernel's source as Python decodes it, or its IR. What cannot be decoded is replaced. Raises OSError."""
        data = self.read()
        return _lines(data, "utf-8") if self.is_ir else python_text(data)

    @property
    def is_ir(self) -> bool:
        """A text of IR, from which only the later stages are compiled. It has neither arguments nor constexprs."""
        return Path(self.file).suffix in IR_ENDINGS

    @property
    def is_sliced(self) -> bool:
        """Whether its files are a slice, or were made from one: then what they import of the host never runs."""
        return self.slice is not None or self.origin.get(SLICED) is True

    def to_json(self) -> dict[str, Any]:
        """The case document (``triton-triage/case/1``)."""
        return {
            "schema": SCHEMA,
            "language": self.language.value,
            "kernel": {"file": self.file, "name": self.name},
            "signature": dict(self.signature),
            "constexprs": dict(self.constexprs),
            "divisible": self.divisibility(),
            "target": str(self.target),
            "options": dict(self.options),
            "toolchain": {name: release for name, release in (("triton", self.triton), ("cute", self.cute)) if release},
            "origin": dict(self.origin),
            **({"construct": dict(self.construct)} if self.construct else {}),
            **({"inputs": dict(self.inputs)} if self.inputs else {}),
        }

    def divisibility(self) -> dict[str, int]:
        """Divisors as compiled: what the case states, and 16 for every other pointer."""
        stated = {name: int(value) for name, value in self.divisible.items()}
        pointers = (name for name, type_ in self.signature.items() if str(type_).startswith("*"))
        return {**{name: 16 for name in pointers if name not in stated}, **stated}

    def settings(self) -> str:
        """Constexprs and options in a line; Gluon kernels may have ``num_warps`` as both."""
        values = (*self.construct.items(), *self.constexprs.items(), *self.options.items())
        return " ".join(dict.fromkeys(f"{name}={value}" for name, value in values))

    def to_message(self) -> dict[str, Any]:
        """What a worker compiles, as it reads it."""
        document = self.to_json()
        names = ("language", "signature", "constexprs", "divisible", "options")
        return {**{name: document[name] for name in names}, "construct": dict(self.construct)}

    def identity(self) -> str:
        """Hash of what is compiled: source text and configuration, without folder, origin, toolchain and inputs."""
        document = self.to_json()
        document.pop("inputs", None)
        del document["origin"], document["toolchain"], document["schema"]
        document["kernel"] = {"name": self.name, "source": hashlib.sha256(self.read()).hexdigest()}
        if self.is_ir:
            document["kernel"]["stage"] = self.path.suffix
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()

    def with_changes(self, changes: Mapping[str, Any]) -> Case:
        """A neighbour: each name goes to the constexpr, argument, constructor's argument or option it belongs to;
        ``target`` and the compiler's name are themselves. Raises KeyError for a name that is none of these."""
        signature, constexprs, options = dict(self.signature), dict(self.constexprs), dict(self.options)
        construct, target, release = dict(self.construct), self.target, self.release
        for name, value in changes.items():
            if name in constexprs:
                constexprs[name] = value
            elif name in signature:
                signature[name] = value
            elif name == "target":
                target = Target.parse(value)
            elif name == self.compiler.name:
                release = value
            elif name in construct:
                construct[name] = value
            elif name in self.language.options or name in options:
                options[name] = value
            else:
                raise KeyError(name)
        return replace(
            self.with_release(release),
            signature=frozen(signature),
            constexprs=frozen(constexprs),
            options=frozen(options),
            construct=frozen(construct),
            target=target,
        )

    @property
    def compiler(self) -> Compiler:
        """What compiles it."""
        return self.language.compiler

    @property
    def release(self) -> str | None:
        """The release of its compiler that the case names."""
        return self.cute if self.compiler == CUTE else self.triton

    def with_release(self, release: str | None) -> Case:
        """The same case for a release of its compiler."""
        if release == self.release:
            return self
        return replace(self, cute=release) if self.compiler == CUTE else replace(self, triton=release)

    def moved(self, folder: Path, file: str, boundary: Path | None = None) -> Case:
        """The same configuration of a kernel in another file, made from this case's."""
        origin = frozen({**self.origin, SLICED: True}) if self.is_sliced else self.origin
        return replace(self, folder=folder, file=file, boundary=boundary, slice=None, origin=origin)

    def replaced(
        self,
        signature: Mapping[str, Any],
        constexprs: Mapping[str, Any],
        divisible: Mapping[str, Any],
        options: Mapping[str, Any],
        target: Target,
    ) -> Case:
        """The same kernel in another configuration."""
        return replace(
            self,
            signature=frozen(signature),
            constexprs=frozen(constexprs),
            divisible=frozen(divisible),
            options=frozen(options),
            target=target,
        )


def _absolute(path: Path) -> Path:
    return resolved(path) if ".." in path.parts else path.absolute()


def _in_package(path: Path) -> bool:
    return (path.parent / "__init__.py").is_file()


def python_text(data: bytes) -> str:
    """The text of a Python source in the encoding that it names. What cannot be decoded is replaced."""
    # It may name an encoding that does not exist, or that is not one of text.
    with suppress(SyntaxError, LookupError, UnicodeError):
        return _lines(data, tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    return _lines(data, "utf-8")


def _lines(data: bytes, encoding: str) -> str:
    return io.TextIOWrapper(io.BytesIO(data), encoding, errors="replace").read()


def check_source(source: bytes, path: Path, name: str, classes: bool = False) -> None:
    """Parse the content of the kernel's file and look for the function, or with ``classes`` a class. Raises
    InputError with what the file does define.

    A name that is assigned or imported is accepted: what it is shows when the worker imports the module.
    """
    try:
        if _defines(source, name, classes):
            return
        tree = ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"{path}{f':{error.lineno}' if error.lineno else ''}: SyntaxError: {error.msg}") from None
    except ValueError as error:  # null bytes, up to Python 3.11
        raise InputError(f"{path}: SyntaxError: {error}") from None
    except (RecursionError, MemoryError) as error:
        raise InputError(f"{path}: too deeply nested for Python's parser: {error}") from None
    defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    bound = {alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names}
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if name not in bound and "*" not in bound:
        known = ", ".join(defined[:8]) or "no function at all"
        raise InputError(f"{path}: defines no function {name!r}; it defines {known}")


@lru_cache(maxsize=1024)  # A file has several cases, and a case is read by several parts of a command.
def _defines(source: bytes, name: str, classes: bool) -> bool:
    # Most kernels are functions of the module, which the walk meets first; the rest of a large file costs more.
    kinds = (ast.FunctionDef, ast.ClassDef) if classes else (ast.FunctionDef,)
    return any(isinstance(node, kinds) and node.name == name for node in ast.walk(ast.parse(source)))
