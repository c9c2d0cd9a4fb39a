"""A Case: one kernel, one configuration, one target. Plain, immutable, and the same on disk (case.json)."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import math
import re
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeAlias

from triage.files import MOST_DOCUMENT, MOST_SOURCE, LeavesFolder, read_file, resolved
from triage.model import inputs as launch_inputs
from triage.model.document import Doc, Documented, Internal, Name, document_fields
from triage.model.errors import InputError, unreadable
from triage.model.target import Target

SCHEMA = "triton-triage/case/1"

Frozen: TypeAlias = Mapping[str, Any]
"""A read-only mapping of JSON values."""

SLICED = "sliced"
"""The entry of a case's origin that tells that its files were cut out of others."""

IR_ENDINGS = frozenset({".source", ".glir", ".ttir", ".ttgir", ".llir", ".ll", ".ptx", ".amdgcn", ".mlir"})
"""File name endings of kernels that are a stage's IR (``.source``: the front end); ``.mlir`` is a module with the
pipeline that MLIR's reproducer names."""


_MOST_NAME = 1000
"""Characters of a name; C++ names of Triton's functions are as long."""
_MOST_NESTING = 32
"""Objects and lists in one another; a case has four, and Python gives up at some hundred."""
_MOST_SHOWN = 300
"""Characters of a field's name or of a value in an error."""

MOST_IR = 64 << 20
"""Bytes of a text of IR; the largest of a failing kernel that was seen has 3 MB."""
_KERNEL_FILE = "the name of the kernel's source file in this folder"


class Language(str, Enum):
    """The language a kernel is written in."""

    TRITON = "triton"
    GLUON = "gluon"
    CUTE = "cute"


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
    file: Annotated[Name, Doc("The source file, in the case's folder.", name="kernel.file", words=_KERNEL_FILE)]
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
            "toolchain": {"triton": self.triton} if self.triton else {},
            "origin": dict(self.origin),
            **({"inputs": dict(self.inputs)} if self.inputs else {}),
        }

    def divisibility(self) -> dict[str, int]:
        """Divisors as compiled: what the case states, and 16 for every other pointer."""
        stated = {name: int(value) for name, value in self.divisible.items()}
        pointers = (name for name, type_ in self.signature.items() if str(type_).startswith("*"))
        return {**{name: 16 for name in pointers if name not in stated}, **stated}

    def settings(self) -> str:
        """Constexprs and options in a line; Gluon kernels may have ``num_warps`` as both."""
        values = (*self.constexprs.items(), *self.options.items())
        return " ".join(dict.fromkeys(f"{name}={value}" for name, value in values))

    def to_message(self) -> dict[str, Any]:
        """What a worker compiles, as it reads it."""
        document = self.to_json()
        return {name: document[name] for name in ("language", "signature", "constexprs", "divisible", "options")}

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
        """A neighbour: each name goes to the constexpr, argument or option it belongs to; ``target`` and
        ``triton`` are themselves. Raises KeyError for a name that is none of these."""
        signature, constexprs, options = dict(self.signature), dict(self.constexprs), dict(self.options)
        target, triton = self.target, self.triton
        for name, value in changes.items():
            if name in constexprs:
                constexprs[name] = value
            elif name in signature:
                signature[name] = value
            elif name == "target":
                target = Target.parse(value)
            elif name == "triton":
                triton = value
            elif name in KNOWN_OPTIONS or name in options:
                options[name] = value
            else:
                raise KeyError(name)
        changed = self.replaced(signature, constexprs, self.divisible, options, target)
        return replace(changed, triton=triton)

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


KNOWN_OPTIONS = frozenset(
    {"num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug", "default_dot_input_precision"}
)
"""Options that exist on every release and may be added to a case that does not state them."""


def load(path: Path, boundary: Path | None = None) -> Case:
    """Read a case folder or its ``case.json``. Its files lie in ``boundary``, or else in the folder itself. Raises
    InputError naming the file, the field and the fix."""
    document_path = path / "case.json" if path.is_dir() else path
    try:
        data = read_file(document_path, boundary or document_path.parent, MOST_DOCUMENT)
        text = data.decode(json.detect_encoding(data))
    except FileNotFoundError:
        raise InputError(f"{document_path}: no such file; a case folder holds case.json and the kernel") from None
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{document_path}: cannot be read as text: {problem}") from None

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for name, value in pairs:
            if name in fields:
                raise InputError(f"{document_path}: {name:.{_MOST_SHOWN}}: stands there twice; leave one of them")
            fields[name] = value
        return fields

    try:
        document = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{document_path}: not JSON: {error}") from None
    return checked(document, document_path.parent, str(document_path), boundary)


def checked(document: Any, folder: Path, where: str, boundary: Path | None = None) -> Case:
    """The case of a parsed document, ready to compile: unlike :meth:`Case.from_json`, which reads a document of any
    folder, this checks each value, and the kernel in ``folder``. ``where`` names the document in errors. Raises
    InputError."""

    def bad(field_name: str, problem: str) -> InputError:
        return InputError(f"{where}: {field_name:.{_MOST_SHOWN}}: {problem:.{_MOST_SHOWN}}")

    if not isinstance(document, dict):
        raise InputError(f"{where}: expected a JSON object with schema {SCHEMA!r}")
    _check_values(document, bad)
    if document.get("schema") != SCHEMA:
        raise bad("schema", f"expected {SCHEMA!r}, found {document.get('schema')!r}")
    known = {"schema", *(own.path[0] for own in document_fields(Case))}
    if unknown := sorted(set(document) - known):
        raise bad(unknown[0], f"unknown field; known are {', '.join(sorted(known))}")
    if not isinstance(target := document.get("target"), str):
        raise bad("target", f"expected text such as 'cuda:90', found {target!r}")
    case = replace(Case.from_json(document, where), folder=folder, boundary=boundary)
    signature, constexprs = case.signature, case.constexprs
    if case.language is Language.CUTE:
        raise bad("language", "cute kernels cannot be compiled by this release; triton and gluon can")
    _check_kernel(case, bad)
    for argument, type_ in signature.items():
        check_type(type_, lambda problem, argument=argument: bad(f"signature.{argument}", problem))
    for argument, value in case.divisible.items():
        if argument not in signature:
            raise bad(f"divisible.{argument}", "not an argument of the signature")
        check_divisor(value, lambda problem, argument=argument: bad(f"divisible.{argument}", problem))
    if both := sorted(set(constexprs) & set(signature)):
        raise bad(f"constexprs.{both[0]}", "also in signature; an argument is one or the other")
    for argument, value in constexprs.items():
        check_constant(value, lambda problem, argument=argument: bad(f"constexprs.{argument}", problem))
    check_options(case.options, bad)
    if case.is_ir and (values := sorted({*signature, *constexprs})):
        raise bad(values[0], f"{case.file} is IR, which has no named arguments and constexprs any more; leave it out")
    if "inputs" in document:
        launch_inputs.check(case.inputs, signature, constexprs, case.divisibility(), bad)
    mappings: dict[str, Any] = {
        name: frozen(getattr(case, name))
        for name in ("signature", "constexprs", "divisible", "options", "origin", "inputs")
    }
    return replace(case, **mappings)


def _check_values(document: dict[str, Any], bad: Any) -> None:
    """What any field may hold: JSON that every reader understands, in texts that can be encoded, not nested deeply."""
    level: list[tuple[str, Any]] = [("", document)]
    for _ in range(_MOST_NESTING):
        below: list[tuple[str, Any]] = []
        for path, value in level:
            match value:
                case dict():
                    for name, item in value.items():
                        field_name = f"{path}.{name}" if path else name
                        if len(name) > _MOST_NAME:
                            raise bad(field_name, f"a name of {len(name)} characters; give at most {_MOST_NAME}")
                        _check_text(name, field_name, bad)
                        below.append((field_name, item))
                case list():
                    below += [(path, item) for item in value]
                case str():
                    _check_text(value, path, bad)
                case int() if not -(1 << 63) <= value < 1 << 64:
                    raise bad(path, "does not fit into 64 bits")
                case float() if not math.isfinite(value):
                    raise bad(path, f"{value} is not a number that JSON can hold")
        level = below
    if level:
        raise bad(level[0][0], f"nested deeper than {_MOST_NESTING}; leave it out")


def _check_text(text: str, field_name: str, bad: Any) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise bad(
            field_name.encode(errors="backslashreplace").decode(),
            f"not Unicode: character {error.start} is a surrogate",
        ) from None


_SCALAR = r"(?:fp8e4nv|fp8e4b8|fp8e4b15|fp8e5b16|fp8e5|fp16|bf16|fp32|fp64|[iu](?:1|8|16|32|64)|B)"
_TYPE = re.compile(rf"(?:\*+k?)?{_SCALAR}|nvTmaDesc")
_DESCRIPTOR = re.compile(
    rf"tensordesc(?:_im2col)?<{_SCALAR}\[ *\d+(?: *, *\d+)* *\](?:, *input_rank=\d+)?(?:, *(?P<layout>[^<>]+))?>"
)


def check_type(value: Any, bad: Any) -> None:
    """A type as ``str_to_ty`` of any release spells it. A descriptor's layout is a call with literals: Triton
    evaluates that text."""
    if isinstance(value, str):
        descriptor = _DESCRIPTOR.fullmatch(value)
        if _TYPE.fullmatch(value) or (descriptor and (not descriptor["layout"] or _is_layout(descriptor["layout"]))):
            return
    raise bad(f"expected a Triton type such as '*fp16', 'i32' or 'tensordesc<fp16[128, 64]>', found {value!r}")


def _is_layout(text: str) -> bool:
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(argument)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def check_constant(value: Any, bad: Any) -> None:
    """A constexpr is what JSON can hold and Triton can represent: text, booleans, numbers, null, lists of these."""
    match value:
        case None | bool() | str():
            return
        case int() if -(1 << 63) <= value < 1 << 64:
            return
        case int():
            raise bad("does not fit into 64 bits")
        case float() if math.isfinite(value):
            return
        case float():
            raise bad(f"{value} is not a number that JSON can hold")
        case list():
            for item in value:
                check_constant(item, bad)
        case _:
            raise bad(f"a {type(value).__name__} cannot be a constexpr here")


def check_divisor(value: Any, bad: Any) -> None:
    """A divisor is a positive power of two; Triton's attribute knows 16, and 1 takes the default back."""
    if not isinstance(value, int) or isinstance(value, bool) or value not in (1, 16):
        raise bad(f"expected 16 (known divisible by 16) or 1 (nothing known), found {value!r}")


def check_options(options: Mapping[str, Any], bad: Any) -> None:
    """The three launch options have hard shapes on every release; the backend checks the rest."""
    for name in ("num_warps", "num_stages", "num_ctas"):
        value = options.get(name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < (0 if name == "num_stages" else 1):
            raise bad(f"options.{name}", f"expected a positive integer, found {value!r}")
        if name == "num_warps" and value & (value - 1):
            raise bad(f"options.{name}", f"must be a power of two (triton/backends/*/compiler.py), found {value}")


def _check_kernel(case: Case, bad: Any) -> None:
    if not case.file:
        raise bad("kernel.file", f"expected {_KERNEL_FILE}, found nothing")
    if len(case.name) > _MOST_NAME or not case.name.isidentifier():
        raise bad("kernel.name", f"expected the name of a function, found {case.name!r}")
    try:
        if Path(case.file).is_absolute():
            raise LeavesFolder
        source = case.read()
    except LeavesFolder:
        raise bad("kernel.file", f"{case.file!r} leaves the case folder") from None
    except FileNotFoundError:
        raise bad("kernel.file", f"{case.file!r} does not exist in {case.folder}") from None
    except OSError as error:
        problem = unreadable(case.path, error)
        is_input = isinstance(problem, InputError)
        raise (bad("kernel.file", f"cannot be read: {error.strerror}") if is_input else problem) from None
    if not case.is_ir:
        check_source(source, case.path, case.name)


def check_source(source: bytes, path: Path, name: str) -> None:
    """Parse the content of the kernel's file and look for the function. Raises InputError with what the file does
    define.

    A name that is assigned or imported is accepted: what it is shows when the worker imports the module.
    """
    try:
        tree = ast.parse(source, filename=str(path))
    except SyntaxError as error:
        raise InputError(f"{path}{f':{error.lineno}' if error.lineno else ''}: SyntaxError: {error.msg}") from None
    except ValueError as error:  # null bytes, up to Python 3.11
        raise InputError(f"{path}: SyntaxError: {error}") from None
    except (RecursionError, MemoryError) as error:
        raise InputError(f"{path}: too deeply nested for Python's parser: {error}") from None
    # Most kernels are functions of the module, which the walk meets first; the rest of a large file costs more.
    if any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree)):
        return
    defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    bound = {alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names}
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if name not in bound and "*" not in bound:
        known = ", ".join(defined[:8]) or "no function at all"
        raise InputError(f"{path}: defines no function {name!r}; it defines {known}")
