"""One bug, one signature: a versioned, readable text that survives releases, machines and configurations.

``v2|assertion|NVGPUToLLVMPass.cpp|false && "WGMMA type or shape is not supported"``: version, kind, then the
fields of :mod:`triage.logs.signature_fields`, each normalised by the rules below, in their order. A rule removes one
difference between two occurrences of the same bug; :func:`explain` lists the rules that fired. Any change of the
results of the rules means raising ``VERSION``.
"""

import re
from collections.abc import Callable

from triage.logs import cute_rewordings
from triage.logs.clean import strip_control
from triage.logs.patterns import regex
from triage.logs.rewordings import reworded
from triage.logs.signature_fields import Field, fields
from triage.logs.text import shorten_paths
from triage.model.diagnosis import Diagnosis, Kind

VERSION = "v2"
#: Longer fields are cut: text so late in a message does not distinguish bugs.
MAX_FIELD = 240
#: Characters of a message that the rules read; they shorten some messages to a quarter.
_MAX_RAW = 4 * MAX_FIELD

Rule = tuple[str, Callable[[str], str]]

_PRINTED_OPERATION = regex(r":? %[\w#:, %]{1,200} = .*$")
_PRINTED_GENERIC = regex(r'(?<=[:,] )"(\w{1,40}\.[\w.]{1,80})"\(.*$')
_NOTE_ASIDE = regex(r" \((?:note|see|hint|this)\b[^)]{0,1000}\)", re.IGNORECASE)
# `…, but got 'i8'` to the end: later releases add it to texts that had none. Not `got an unexpected keyword …`.
_OBSERVED = regex(
    r"[,;:.]?(?: but)? (?:[Gg]ot|received|found)(?::| type)? (?!an? |multiple |some |no |in |on |by ).{1,4000}$"
)
_PYTHON_OBJECT = regex(r"<(?:[\w.]{1,200}\.)?(\w{1,80}) object at 0x[0-9a-fA-F]{1,16}>")
_PYTHON_SLICE = regex(r"\bslice\([^)]{0,400}\)")
_CONSTEXPR = regex(r"\bconstexpr\[([^\]]{0,200})\]")
_ADDRESS = regex(r"\b0x[0-9a-fA-F]{2,16}\b")
_LOCATION = regex(
    r'loc\((?:"[^"]{0,1000}":\d{1,7}:\d{1,7}|unknown|#\w{1,40})\)'
    r"|(?<![\w.])[\w.-]{1,200}\.(?:py|cpp|h|inc|mlir|td):\d{1,7}(?::\d{1,7})?"
)
_TEMPORARY = regex(r"\btmp[\w]{6,12}(?:\.\w{1,8}){0,3}")
_SSA = regex(r"%(?:arg\d{1,6}|c-?\d{1,10}(?:_\w{1,20})?|cst(?:_\d{1,6})?|\d{1,9})(?:#\d{1,4}|:\d{1,4})?(?![\w.])")
_DAG_NODE = regex(r"\bt\d{1,6}(?=[:,]|\b)")
_ANGLE_BRACKET = regex(r"[<>]")
_LAYOUT_NAME = regex(r"(?:#[A-Za-z_]|!cute)[\w.]{0,78}$")
_LAYOUT_ALIAS = regex(r"#((?:ttg\.|ttng\.)?[A-Za-z_]+?)\d{1,6}\b")
_SHAPED = regex(r"\b((?:tensor|vector|memref|memdesc|tensordesc|ptr)<)(?:\d{1,10}x|\?x)+")
# In round brackets only where it is more than one number: `(0)` is a call's.
_LIST_OF_NUMBERS = regex(
    r"\[\s?(?:\.\.\., ?)?['\"]?-?\d{1,12}['\"]?(?:, ?['\"]?-?\d{1,12}['\"]?){0,64},?\s?\]"
    r"|\(\d{1,12}(?:, ?\d{1,12}){1,64},?\)"
)
_BY = regex(r"(?<![\w.])\d{1,9}(?:x\d{1,9})+(?!\w)")
_DTYPE = regex(
    r"(?<![\w.%])(?:u?int(?:1|8|16|32|64)|[iu](?:1|4|8|16|32|64|128)|b?f(?:p|loat)?(?:16|32|64)"
    r"|fp8\w{0,12}|float8\w{0,12}"
    r"|f8E\w{1,12}|f[46]E\w{1,12}|e[2-5]m[0-3]\w{0,6}|si\d{1,3}|ui\d{1,3})(?![\w.])"
)
_LIST_OF_TYPES = regex(r"[\[(](?:'T'(?:, ?'T'){0,32},?|T(?:, ?T){1,32})[\])]")
# What Triton calls a device function: its module and name, then the types of its arguments (mangle_fn in its
# compiler/code_generator.py).
_MANGLED = regex(r"(?<![\w.])(?:[A-Za-z_]\w{0,80}\.){1,8}[A-Za-z_]\w{0,80}?__P{0,3}(?:[iu]|fp|bf)\d[\w(),]{0,200}")
_EXPECTED_TYPES = regex(r"(?<=Expected dtype )\[(?:'\w{1,12}'(?:, )?){1,32}\]")
_CHOICES = regex(r"\b(one of|are|choose from|supported) ?:? [\[({].{0,1000}[\])}]")
_SENTENCES = regex(r"(?<=[\w)\]'\"`])[.!] (?=[A-Z]).*$")
_MISSING = regex(r"\bmissing \d{1,3} required (positional|keyword-only) arguments?: .*$")
# A name in quotes after any of these is the user's; without quotes only after the first.
_NAMED = regex(
    r"\b(variable|[Ii]nitial value for|(?<!keyword )argument|parameter|kernel|function|[Nn]ame|global|global variable)"
    r" ([`'\"])[A-Za-z_][\w.]{0,200}\2"
)
_NAMED_BARE = regex(
    r"\b(variable|[Ii]nitial value for|conste?xpr|type for) [A-Za-z_]\w{0,200}"
    r"(?= (?:has|is|of|in|was|should|changed|between)\b)"
)
_NOT_DEFINED = regex(r"^(['\"`]?)[A-Za-z_]\w{0,200}\1 is not defined")
_BOUND = regex(r"(?<=[<>]= )\d{1,12}\b|(?<=[<>] )\d{1,12}\b|(?<=== )\d{1,12}\b")
_NUMBER = regex(r"(?<![\w.#])-?\d{2,}(?:\.\d+)?(?![\w])")
_ARCHITECTURE = regex(r"(?<![\w.])(sm_|compute_|gfx)\d[0-9a-f]{1,4}\b")
_TRAILING = regex(r"[\s.!:;,]{1,64}$")


def without_layout_bodies(text: str) -> str:
    """``#ttg.blocked<{sizePerThread = [1]}>`` -> ``#ttg.blocked``, nested ones with their outermost; CuTe's types."""
    outside: list[str] = []
    depth = start = 0
    for bracket in _ANGLE_BRACKET.finditer(text):
        at, opens = bracket.start(), bracket.group() == "<"
        if depth:
            depth += 1 if opens else -(text[at - 1] != "-")
            start = at + 1
        elif opens and _LAYOUT_NAME.search(text[max(0, at - 80) : at]):
            outside.append(text[start:at])
            depth = 1
    return "".join(outside) if depth else "".join([*outside, text[start:]])


def _numeric_class(types: re.Match[str]) -> str:
    """A function of floating-point numbers differs from one of integers."""
    return "[float]" if "fp" in types[0] and "int" not in types[0] else "[int]"


def _substituting(*pairs: tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]) -> Callable[[str], str]:
    """A rule that replaces what each pattern matches, one pattern after the other."""

    def rule(text: str) -> str:
        for pattern, replacement in pairs:
            text = pattern.sub(replacement, text)
        return text

    return rule


#: For every field.
COMMON: tuple[Rule, ...] = (("terminal-control", strip_control), ("white-space", lambda text: " ".join(text.split())))
#: For messages; constants and names in an assertion's expression identify the bug and are not normalised.
MESSAGE: tuple[Rule, ...] = (
    ("cute-values", cute_rewordings.without_values),
    ("printed-operation", _substituting((_PRINTED_OPERATION, ""), (_PRINTED_GENERIC, r"\1"))),
    ("first-sentence", _substituting((_SENTENCES, ""))),
    ("aside", _substituting((_NOTE_ASIDE, ""))),
    ("trailing-punctuation", _substituting((_TRAILING, ""))),
    ("choices", _substituting((_CHOICES, r"\1 […]"))),
    ("observed-value", _substituting((_OBSERVED, ""))),
    ("missing-arguments", _substituting((_MISSING, r"missing \1 arguments"))),
    ("python-object", _substituting((_PYTHON_OBJECT, r"<\1>"), (_PYTHON_SLICE, "<slice>"), (_CONSTEXPR, r"\1"))),
    ("address", _substituting((_ADDRESS, "0x…"))),
    ("location", _substituting((_LOCATION, "LOC"))),
    ("path", shorten_paths),
    ("temporary-file", _substituting((_TEMPORARY, "TMP"))),
    ("ssa-name", _substituting((_SSA, "%v"))),
    ("layout-alias", lambda text: _LAYOUT_ALIAS.sub(r"#\1", without_layout_bodies(text))),
    ("shape", _substituting((_SHAPED, r"\1"), (_LIST_OF_NUMBERS, "[N]"), (_BY, "NxN"))),
    ("data-type", _substituting((_EXPECTED_TYPES, _numeric_class), (_DTYPE, "T"), (_LIST_OF_TYPES, "[T]"))),
    ("architecture", _substituting((_ARCHITECTURE, r"\1N"))),
    ("mangled-name", _substituting((_MANGLED, "FUNCTION"))),
    (
        "user-name",
        _substituting((_NAMED, r"\1 NAME"), (_NAMED_BARE, r"\1 NAME"), (_NOT_DEFINED, "NAME is not defined")),
    ),
    ("bound", _substituting((_BOUND, "N"))),
    ("number", _substituting((_NUMBER, "N"))),
    ("rewording", reworded),
    ("cute-rewording", cute_rewordings.reworded),
)
#: For LLVM's own texts: nodes of a selection graph are numbered anew in every compile.
CODE_GENERATOR: tuple[Rule, ...] = (("graph-node", _substituting((_DAG_NODE, "t"))),)


def rules_for(kind: Kind, field: Field) -> tuple[Rule, ...]:
    """The rules that apply to a field."""
    if field.verbatim:
        return COMMON
    code_generator = CODE_GENERATOR if kind in (Kind.LLVM_FATAL, Kind.LLVM_DIAGNOSTIC) else ()
    return COMMON + code_generator + MESSAGE


def _normalised(kind: Kind, field: Field) -> tuple[str, list[tuple[str, str, str]]]:
    """The field's part of the signature; and the rules that fired, with the text before and after each."""
    text, fired = field.text[:_MAX_RAW], []
    for name, rule in rules_for(kind, field):
        before, text = text, rule(text)
        if text != before:
            fired.append((name, before, text))
    return text[:MAX_FIELD].strip() or "?", fired


def explain(diagnosis: Diagnosis) -> list[tuple[str, str, str]]:
    """Which rules fired, in their order, with the field before and after."""
    return [step for field in fields(diagnosis) for step in _normalised(diagnosis.kind, field)[1]]


def signature_of(diagnosis: Diagnosis) -> str:
    """The diagnosis's signature."""
    parts = [_normalised(diagnosis.kind, field)[0] for field in fields(diagnosis)]
    return "|".join([VERSION, diagnosis.kind.value, *parts])
