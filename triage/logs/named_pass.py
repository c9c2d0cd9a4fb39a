"""The pass that a short text names in words or in a command, where the failure in it does not tell which it was.

``Crash in --convert-triton-amdgpu-to-llvm when a tensor lacks its encoding``
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from triage.logs.finding import Finding
from triage.logs.patterns import regex
from triage.model.diagnosis import Trait

# The class of a pass; not a library, a dialect or what a dialect consists of.
_CLASS = (
    r"(?:Triton(?:AMD|Intel|Nvidia)?GPU|TritonTo(?=[A-Z])|NVGPU|NVWS|ConvertTriton|AllocateProton)"
    r"(?!ToLLVM\b|(?:\w{0,40}(?:Dialect|Ops?|IR|Types|Transforms|AttrDefs|Encoding))\b)\w{3,80}"
)
# As mlir-opt spells it, or its class with a word for what it is, for what it does or for where something happens.
_PASS = regex(
    r"(?<![\w/.=-])(?:--?)?(?P<argument>(?:triton(?:intel|amd|nvidia)?gpu|tritongen|triton-(?:nvidia|intel|amd)(?:-gpu)?"
    r"|nvgpu|nvws|ttg|convert-[a-z-]{1,40}-to)-[a-z][a-z\d-]{2,80})(?![\w/-]|\.\w)"
    r"|\b(?P<name>(?:Triton|Convert|NVGPU|NVWS|Allocate)\w{3,80})[`'\"]?(?= pass\b)"
    r"|\b(?P<kind>[A-Z][a-z]\w{3,60})[`'\"]?(?= MLIR pass\b)"
    r"|`(?P<llvms>[A-Z][\w>-]{1,40}(?: [A-Z][\w>-]{1,40}){1,6})`(?=\*{0,2} pass\b)"
    r"|[`'\"](?P<quoted>(?:[A-Z][a-z\d]{1,40}){2,8}|[a-z]\w{1,40}(?:-[a-z\d]{1,40}){1,8})[`'\"]"
    r"(?= (?:\w{2,12} )?pass\b)"
    r"|\b[Pp]ass(?:,? | ?[(\uff08])`(?P<behind>[A-Z][a-z\d]{1,40}[A-Z]\w{1,80})`"
    r"|\b(?i:fail(?:ing|ed)|crash(?:ing|ed)|aborting) pass(?:,| is| was)?:? ?[`'\"]?"
    r"(?P<stated>[A-Z]\w{3,80}|[a-z]\w{1,40}(?:-[a-z\d]{1,40}){1,8})\b"
    r"|\b(?:in|after|during|inside|with|by|of) (?:the |Triton's )?`?(?P<word>(?!(?:Triton|Forward|Backward|First|Second"
    r"|Last|Next|Compiler|Optimi[sz]ation|This|Each|Every|That|Any)\b)[A-Z][a-z]\w{3,60})`?(?= pass\b)"
    rf"|(?<![\w/:.])(?P<failing>{_CLASS})"
    r"(?= (?:\w{1,20} ){0,2}(?:fails?|failed|failures?|errors?|crash(?:es)?|asserts?|assertion|aborts|hangs)\b)"
    # Before the colon of a title.
    rf"|^(?:\[[^\]]{{1,40}}\] ?){{0,4}}[`'\"]?(?P<titled>{_CLASS})[`'\"]?(?=: )"
    rf"|\b(?:in|after|during|inside|with|by) (?:the )?`?(?P<within>{_CLASS})(?![\w/]|[:.(]\w)"
)
# `The failing pass is:`, and its name below.
_ANNOUNCED = regex(r"\bpass(?: is| was)?:\s{0,8}$")
#: What compilers of vendors raise where a pass failed.
_RAISED_BY_PASS = "MLIRCompilationError"
# An element of a pipeline that is printed over several lines.
_ELEMENT = regex(r"\s{0,40}[\w-]{1,100}(?:\{.{0,400}\})?,?$")


def named_pass(lines: Iterable[str]) -> str | None:
    """The only pass that the lines name; those with several, such as pipelines, tell of none."""
    names: set[str] = set()
    for line, below in pairwise([*lines, ""]):
        if _ELEMENT.match(line):
            continue
        whole = f"{line.rstrip()} {below.strip()}" if _ANNOUNCED.search(line) else line
        of_line = {match[match.lastgroup or 0] for match in _PASS.finditer(whole)}
        names |= of_line if len(of_line) == 1 else set()
    return names.pop() if len(names) == 1 else None


def with_named_pass(findings: Sequence[Finding], lines: Sequence[str]) -> list[Finding]:
    """The findings; a failure in a pass that is not known gets the one that the text names."""
    if not any(_lacks_pass(finding) for finding in findings):
        return [*findings]
    name = named_pass(lines)
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, pass_name=name))
        if name and _lacks_pass(finding)
        else finding
        for finding in findings
    ]


def _lacks_pass(finding: Finding) -> bool:
    diagnosis = finding.diagnosis
    in_pass = diagnosis.kind.has(Trait.IN_PASS) or diagnosis.exception == _RAISED_BY_PASS
    return in_pass and diagnosis.pass_name is None
