"""What MLIR's and LLVM's pass managers print: the header of each dump, the module behind it, and MLIR's reproducer.

MLIR up to 3.7:      ``// -----// IR Dump Before ConvertNVGPUToLLVM (convert-nv-gpu-to-llvm) ('builtin.module' …) //-``
MLIR from 3.8 on:    ``// -----// IR Dump Before ConvertTritonGPUToLLVM: convert-triton-gpu-to-llvm{…} (…) //----- //``
LLVM:                ``*** IR Dump Before NVPTX DAG->DAG Selection (nvptx-isel) ***``
"""

import re
from dataclasses import dataclass

ANCHOR = "IR Dump Before "
"""Part of every header."""
COMMENT = "// -----// "
"""How MLIR begins every line about a dump."""
HEADER = COMMENT + ANCHOR
"""How MLIR begins the header of a dump."""
REPRODUCER_ANCHOR = 'pipeline: "builtin.module('

_HEADER = re.compile(
    r"IR Dump Before (?:(?P<name>[\w:<>]{1,200}?)(?:: (?P<new>[\w-]{1,200})| \((?P<old>[\w-]{1,200})\))?"
    r"(?:\{.{0,4000}\})? (?:\('|//-)|(?P<llvm>[^(*]{1,200}?)(?: \([\w-]{1,200}\)| on .{1,400})? \*\*\*)"
)
_NEXT = COMMENT + "IR Dump"
_SINGLE_PASS = re.compile(r'pipeline: "builtin\.module\(([\w-]{1,200})(?:\{[^{}"]{0,4000}\})?\)"')
_PIPELINE = re.compile(r'pipeline: "((?:[^"\\]|\\.)*)"')
_CLOSING = re.compile(r"\}(?: loc\(.*\))?")
"""The end of a module; it has a location where those are printed."""
_TRAILER = "\n{-#"
_REPRODUCER = """
{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "builtin.module({})"
    }}
  }}
#-}}
"""


@dataclass(frozen=True, slots=True)
class Header:
    """The pass that a dump's header announces. ``argument``: as ``mlir-opt`` spells it, where the header has that."""

    name: str
    argument: str | None


@dataclass(frozen=True, slots=True)
class PassInput:
    """The module that a pass was run on. ``pass_name``: as ``mlir-opt`` spells it; ``reproducer``: MLIR's, if any."""

    pass_name: str
    module: str
    reproducer: str | None = None


def header(line: str) -> Header | None:
    """The header of a dump in this line; None when there is none."""
    match = _HEADER.search(line)
    if match is None:
        return None
    return Header((match["llvm"] or match["name"]).strip(), match["new"] or match["old"])


def last_pass(text: str) -> PassInput | None:
    """The last pass that a dump of MLIR announces with its argument; None when there is none."""
    end = len(text)
    while (start := text.rfind(HEADER, 0, end)) >= 0:
        if start == 0 or text[start - 1] == "\n":
            line_end = text.find("\n", start, end)
            line_end = end if line_end < 0 else line_end
            announced = header(text[start:line_end])
            if announced is not None and announced.argument is not None:
                return PassInput(announced.argument, _module(text[line_end + 1 :]))
        end = start
    return None


def first_dump(text: str) -> str:
    """The text between the first header and the next one."""
    header = text.find(ANCHOR)
    if header < 0:
        return ""
    end = text.find(_NEXT, header + len(ANCHOR))
    return text[header + len(ANCHOR) : end if end >= 0 else None]


def pipeline(printed: str) -> str | None:
    """The passes, separated by commas, in a pass manager's own text or in a reproducer."""
    quoted = _PIPELINE.search(printed)
    passes = (quoted[1] if quoted else printed).strip()
    for manager in ("builtin.module", "any"):
        if passes.startswith(f"{manager}(") and passes.endswith(")"):
            passes = passes[len(manager) + 1 : -1]
    return passes or None


def without_options(pipeline: str) -> str:
    """The passes of a pipeline without their options."""
    parts: list[str] = []
    opened: list[int] = []
    for part in re.split(r"([{}])", pipeline):
        if part == "}" and opened:
            del parts[opened.pop() :]
            continue
        if part == "{":
            opened.append(len(parts))
        parts.append(part)
    return "".join(parts)


def single_pass(text: str) -> str | None:
    """The pass of a reproducer whose pipeline has only that one."""
    match = _SINGLE_PASS.search(text)
    return match[1] if match else None


def reproduced(text: str) -> PassInput | None:
    """The pass and the module of a reproducer; None when its pipeline has several passes."""
    name = single_pass(text)
    return PassInput(name, text.partition(_TRAILER)[0] + "\n", text) if name else None


def reproducer(step: PassInput) -> str:
    """A reproducer that runs one pass, with its default options, on a module."""
    return step.module + _REPRODUCER.format(step.pass_name)


def _module(text: str) -> str:
    """The IR at the beginning of ``text``: aliases, ``module … {`` to the ``}`` in the first column, locations."""
    end = 0
    closed = False
    for line in text.splitlines(keepends=True):
        if closed and line.strip() and not line.startswith("#"):
            break
        end += len(line)
        ends = _CLOSING.fullmatch(line.rstrip()) or (line.startswith("module ") and line.rstrip().endswith("}"))
        closed = closed or bool(ends)
    return text[:end]
