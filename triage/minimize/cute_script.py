"""What a reproducer of a CuTe kernel has of its own: the DSL's settings, and calls that make the arguments."""

import ast
import inspect
import re
from importlib import resources

from triage.harness.worker.cute import arguments, binaries, grammar, settings
from triage.minimize.source.arguments import literal
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.releases import numbers
from triage.source.names import scope

_FAKE_SINCE = (4, 3)
"""Older releases have no fake tensors."""
_VARIABLES = {"LINEINFO": "1", "DISABLE_FILE_CACHING": "1", "FILTER_STACKTRACE": "0"}
_MARK = re.compile(r"@[A-Z]+@")


def environment(case: Case) -> dict[str, str]:
    """The environment variables with which the DSL compiles as in triage."""
    architecture = settings.architecture({"arch": case.target.arch}, dict(case.options))
    return {f"CUTE_DSL_{name}": value for name, value in {"ARCH": architecture, **_VARIABLES}.items()}


def compiler(release: str, has_limit: bool) -> str:
    """The functions that make arguments and compile. ``has_limit``: and look for what only a launch would report."""
    parts = {
        "@TENSOR@": _template("fake" if _has_fakes(release) else "dlpack"),
        "@BEFORE@": "        traced = str(module)\n" if has_limit else "",
        "@EXCESS@": "_excess(traced, str(module))" if has_limit else "",
        "@LIMIT@": _template("limit").replace("@SHAREDBYTES@", _shared_bytes()) if has_limit else "",
    }
    return _MARK.sub(lambda mark: parts[mark[0]], _template()).rstrip("\n")


def call(specimen: Specimen, release: str) -> list[str]:
    """The lines that compile the case of a specimen, whose text the script has."""
    case = specimen.case
    fake = _has_fakes(release)
    values = {name: _argument(grammar.parse(str(type_)), fake) for name, type_ in case.signature.items()}
    values |= {name: literal(value) for name, value in case.constexprs.items()}
    words = [
        f"--{name.replace('_', '-')} {case.options[name]}"
        for name in ("opt_level", "ptxas_options")
        if name in case.options
    ]
    constructed = ", ".join(f"{name}={literal(value)}" for name, value in case.construct.items())
    is_class = any(line.startswith(f"class {case.name}") for line in specimen.text.splitlines())
    return [
        "_ARGUMENTS = {",
        *(f"    {name!r}: {text}," for name, text in values.items()),
        "}",
        f"_OPTIONS = { ({'options': ' '.join(words)} if words else {})!r}",
        f"_compile({case.name}({constructed}))" if is_class else f"_compile({case.name})",
    ]


def _has_fakes(release: str) -> bool:
    return numbers(release) >= _FAKE_SINCE


def _template(kind: str = "") -> str:
    name = f"reproducer_cute_{kind}.py.txt" if kind else "reproducer_cute.py.txt"
    return resources.files("triage.minimize").joinpath(name).read_text(encoding="utf-8").strip("\n")


def _shared_bytes() -> str:
    """The source of the function that reads the size of shared memory off a compiled module, with what it needs."""
    source = inspect.getsource(binaries)
    statements = {name: node for node in ast.parse(source).body for name in scope([node])}
    needed, waiting = set[ast.stmt](), [binaries.shared_bytes.__name__]
    while waiting:
        statement = statements[waiting.pop()]
        if statement not in needed:
            needed.add(statement)
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            waiting += [name for name in names if name in statements and name != "re"]
    texts = [ast.get_source_segment(source, node) or "" for node in sorted(needed, key=lambda node: node.lineno)]
    return "\n\n\n".join(texts)


def _argument(argument: grammar.Argument, fake: bool) -> str:
    match argument:
        case grammar.Tensor():
            return _tensor(argument, fake)
        case grammar.Pointer(dtype, space, align):
            return f"_pointer({grammar.DTYPES[dtype]!r}, {space!r}, {align or _bytes(dtype)})"
        case grammar.Stream():
            return "_stream()"
        case grammar.Group(items):
            inside = ", ".join(_argument(item, fake) for item in items)
            return f"({inside},)" if len(items) == 1 else f"({inside})"
        case grammar.Scalar(dtype):
            return f"_dtype({grammar.DTYPES[dtype]!r})(1)"


def _tensor(tensor: grammar.Tensor, fake: bool) -> str:
    align = tensor.align or _bytes(tensor.dtype)
    shape, stride, marks = _extents(tensor.shape), _extents(tensor.stride), ""
    if not fake:
        fitting, calls = arguments.static(tensor)
        shape, stride = map(repr, fitting)
        marks = "".join(
            f".{method}({', '.join(f'{key}={value}' for key, value in named.items())})" for method, named in calls
        )
    return f"_tensor({grammar.DTYPES[tensor.dtype]!r}, {shape}, {stride}, {tensor.space!r}, {align}){marks}"


def _extents(extents: grammar.Extent) -> str:
    if isinstance(extents, tuple):
        inside = ", ".join(map(_extents, extents))
        return f"({inside},)" if len(extents) == 1 else f"({inside})"
    return f"_dynamic({extents.divisor})" if isinstance(extents, grammar.Dynamic) else str(extents)


def _bytes(dtype: str) -> int:
    return max(1, grammar.width(dtype) // 8)
