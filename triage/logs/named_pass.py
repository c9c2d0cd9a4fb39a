"""The pass that a short text names in words or in a command, where the failure in it does not tell which it was.

``Crash in --convert-triton-amdgpu-to-llvm when a tensor lacks its encoding``
"""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from triage.logs.lists import listed
from triage.logs.patterns import regex
from triage.logs.text import only

# The class of a pass: of any, and of Triton's, which is not a library, a dialect or what a dialect consists of.
_CLASS = r"[A-Z]\w{0,40}[a-z][A-Z]\w{1,80}"
_OF_TRITON = (
    r"(?:Triton(?:AMD|Intel|Nvidia)?GPU|TritonTo(?=[A-Z])|NVGPU|NVWS|ConvertTriton|AllocateProton)"
    r"(?!ToLLVM\b|(?:\w{0,40}(?:Dialect|Ops?|IR|Types|Transforms|AttrDefs|Encoding|Patterns?|Converter|Target))\b)\w{3,80}"
)
#: How Ascend's compiler names the pass whose failure is below.
ENCOUNTERS = r"\[(?P<stage>\w{1,100})\] encounters error:"
_ARGUMENT = r"[a-z]\w{1,40}(?:-[a-z\d]{1,40}){1,8}"
_FAILING = regex(
    r"(?:\b(?i:fail(?:ing|ed)|crash(?:ing|ed)|aborting)|\u5931\u8d25\u7684?) ?(?:MLIR )?pass"
    r"(?:,| is| was)?[:\uff1a]? ?[`'\"]?"
    rf"(?P<stated>[A-Z]\w{{3,80}}|{_ARGUMENT})\b"
    r"|IR Dump After [\w:<>]{1,200} Failed:? \(?(?P<dumped>[a-z][\w-]{2,200})"
    rf"|[`\[](?P<run>{_CLASS})[`\]]:? PassManager::run failed"
    rf"|{ENCOUNTERS}"
    # a frame of a native stack
    rf"|(?<![A-Za-z])(?P<ran>{_CLASS})::runOnOperation\b"
    r"|\b(?i:fail(?:s|ed|ing|ures?)?|crash(?:es|ed|ing)?|asserts?|assertions?|errors?|aborts?)\b"
    r"(?: (?:is|was|are|occurs|happens|comes))? (?:in|inside|during|from|within) (?:the )?\*{0,2}"
    rf"[`'\"](?P<inside>{_ARGUMENT})[`'\"]"
)
# As mlir-opt spells it, a class of Triton's, or a name with the word for what it is.
_PASS = regex(
    r"(?<![\w/.=-])(?:--?)?(?P<argument>(?:triton(?:intel|amd|nvidia)?gpu|tritongen|triton-(?:nvidia|intel|amd)(?:-gpu)?"
    r"|nvgpu|nvws|ttg|convert-[a-z-]{1,40}-to)-[a-z][a-z\d-]{2,80})(?![\w/-]|\.\w)"
    rf"|(?<![\w/:.])(?P<named>{_OF_TRITON})(?![\w/]|[:.(]\w|::)"
    rf"|\b(?P<name>{_CLASS})(?=[`'\"]?\*{{0,2}} (?:\w{{2,12}} )?pass\b)"
    # LLVM's are several words
    rf"|[`'\"](?P<quoted>{_ARGUMENT}|[A-Z][\w>-]{{1,40}}(?: [A-Z][\w>-]{{1,40}}){{1,6}})"
    r"(?=[`'\"]\*{0,2} (?:\w{2,12} )?pass\b)"
    rf"|\b[Pp]ass(?:,? | ?[(\uff08])`(?P<behind>{_CLASS})`"
    r"|\b(?:in|after|during|inside|with|by|of) (?:the |Triton's )?`?(?P<word>(?!(?:Triton|Forward|Backward|First|Second"
    r"|Last|Next|Compiler|Optimi[sz]ation|This|Each|Every|That|Any)\b)[A-Z][a-z]\w{3,60})`?(?= pass\b)"
)
# Passes as their classes and source files are named: with what all of a back end have in common, and without.
_COMMON = regex(r"^(?:Triton(?:AMD|Nvidia|Intel)?(?:GPU)?|Convert(?=Triton))|Pass$")
_HUMPS = regex(r"[A-Z][a-z]{2,40}[A-Z\d]")
# Their arguments likewise: `remove-layout-conversions`.
_OF_BACK_END = regex(r"^triton(?:amd|intel|nvidia)?gpu-|^triton-nvidia-gpu-|^nvws-")
_SEVERAL_WORDS = regex(r"(?!test-)\w+-\w+-\w")
_WORD = regex(r"(?<![\w/:.-])(?:[A-Z]\w{7,80}|[a-z][a-z\d]{1,40}(?:-[a-zA-Z\d]{1,40}){1,8})(?![\w/-]|[:.(]\w|::)")
# `The failing pass is:`, and its name below.
_ANNOUNCED = regex(r"\bpass(?: is| was)?:\s{0,8}$")
# An element of a pipeline that is printed over several lines.
_ELEMENT = regex(r"\s{0,40}[\w-]{1,100}(?:\{.{0,400}\})?,?$")


@cache
def _known() -> dict[str, str]:
    """The argument of each spelling of a pass."""
    known: dict[str, str] = {}
    for line in listed("pass_names.txt")[0]:
        name, argument = line.split()
        known |= dict.fromkeys((name, argument), argument)
        if _HUMPS.search(short := _COMMON.sub("", name)):
            known[short] = argument
        if _SEVERAL_WORDS.match(short := _OF_BACK_END.sub("", argument)):
            known[short] = argument
    return known


def is_tritons(name: str) -> bool:
    """True for the name of a pass that only Triton has, however it is spelled."""
    return name in _known()


def _listed(lines: Iterable[str]) -> str | None:
    """The only pass that the lines name of those that are known, in its first spelling."""
    spellings: dict[str, str] = {}
    for line in lines:
        for word in _WORD.findall(line):
            if (argument := _known().get(word)) is not None:
                spellings.setdefault(argument, word)
    return only(spellings.values())


def failing_pass(lines: Iterable[str]) -> str | None:
    """The only pass of which the lines say that it fails."""
    return only(match[match.lastgroup or 0] for line in lines for match in _FAILING.finditer(line))


def named_pass(lines: Iterable[str]) -> str | None:
    """The only pass of which the lines say that it fails, or else the only one that they name; a line with several, as
    of a pipeline, tells of none."""
    lines = [*lines]
    failing: set[str] = set()
    names: set[str] = set()
    for line, below in pairwise([*lines, ""]):
        if _ELEMENT.match(line):
            continue
        whole = f"{line.rstrip()} {below.strip()}" if _ANNOUNCED.search(line) else line
        failing |= {match[match.lastgroup or 0] for match in _FAILING.finditer(whole)}
        if name := only(match[match.lastgroup or 0] for match in _PASS.finditer(whole)):
            names.add(name)
    name, known = only(failing) or only(names), _listed(lines)
    # People write the name of a pass as one of what it is about: `the CanonicalizePointer pass`.
    return known if name is None or (known or "").removesuffix("s") == name else name
