"""Locations named in a line or in the sentences of a short text: in the kernel and in the compiler's code.

``MLIR error in kernel.py line 88: …``, ``rc=134, an assert of LLVM's (Sequence.h:275)``, ``Segmentation fault in
`triton::ir::builder::insert` ``. Where there are several candidates, none is used.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from triage.logs.diagnostic_lines import parse
from triage.logs.functions import function_name
from triage.logs.other_programs import is_sentence
from triage.logs.patterns import regex
from triage.logs.text import last_component, only
from triage.logs.user_frames import frame_file, users_line
from triage.model.diagnosis import SourceLocation

# Characters that programs do not print.
_NOT_ENGLISH = regex(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_NEAR = 80
"""Characters before a place that may say what is there."""
# How a line's number is told behind a file's name and before it. There are GPUs named L2 to L40.
_L = r"L(?!(?:2|4|20|40)S?\b)"
_BEHIND = (
    rf"[`'\"]?(?::L?|#L|@|\((?=\d{{1,7}}\))|,? ?[(\[]?{_L}(?=\d)"
    r"|,? ?[(\[]?(?:at |on |near )?(?:[Ll]ine\b(?: number)?:?|ln|l\.) ?)"
    r"(?P<line>[1-9]\d{0,6})(?![0-9A-Za-z_])"
)
_BEFORE = (
    rf"\b(?:[Ll]ine (?:number )?|{_L})(?P<number>[1-9]\d{{0,6}})\b"
    r"(?:,? (?:of|in|from) (?:the )?(?:file )?| \()[`'\"]?"
)
# Words of languages without spaces and their punctuation may stand on either side.
_PYTHON = r"[^\s:\"'`()\[\]\u3000-\uffef]{1,400}\.py"
_LINE = regex(
    rf"(?<![^\s:\"'`(,\u3000-\uffef])(?P<file>{_PYTHON})(?:\((?P<closed>\d{{1,7}})\): (?=error\b)"
    rf"|{_BEHIND}(?::(?P<column>\d{{1,7}})\b)?)"
    rf"|{_BEFORE}(?P<of>{_PYTHON})\b"
)
# A C++ file with its line, and the function before or after it, which its spelling distinguishes from words.
_FUNCTION = r"(?=\w{0,60}(?:[a-z][A-Z]|::))[\w:]{3,200}"
_NATIVE_FILE = r"[\w./\\-]{1,200}\.(?:cpp|cc|h|hpp)"
_FILE = regex(
    rf"(?:(?<![\w:])(?P<before>{_FUNCTION})`?(?:\(\))?`?,? (?:\(|at |in ))?`?(?<![\w/.\\-])"
    rf"(?P<file>{_NATIVE_FILE}){_BEHIND}(?:`?(?:,? in |,? ?\(|: (?=[\w:]{{3,200}}\())`?(?P<behind>{_FUNCTION}))?"
    rf"|{_BEFORE}(?P<of>{_NATIVE_FILE})\b"
)
_FILE_ALONE = regex(rf"\b(?:in|at|inside|within) (?:the )?(?:file )?`?(?P<file>{_NATIVE_FILE})\b(?![:(]?\d)")
# What a sentence says of a line that failed, before it and behind it.
_FAILS = r"(?:fail|crash|rais|assert|throw|reject|refus|abort)\w{0,8}"
_FAILED_AT = regex(
    rf"\b{_FAILS}\b[^.;\n]{{0,20}} (?:at|in|on|by|from) [`'\"\[]?$|\berror (?:at|in|from) [`'\"\[]?$", re.IGNORECASE
)
_THAT_FAILED = regex(rf"[`'\")\]]{{0,3}} {_FAILS}\b")
# A frame of a native stack, not prose.
_NATIVE = regex(r"\s{0,8}#\d{1,4}\s")
_CRASHED_IN = regex(
    r"\b(?:seg(?:mentation)?[ -]?fault(?:s|ed|ing)?|sig(?:segv|abrt|fpe|ill)|crash(?:es|ed|ing)?|abort(?:s|ed|ing)?"
    r"|null(?:ptr|[ -]pointer) dereference|assertion(?: failure| error| failed)?)\b[^.\n]{0,40}?\b(?:in|inside|at) `?"
    r"(?P<function>(?:[a-z_]\w{1,60}::){1,8}~?[a-z_]\w{1,60}(?:<[\w:<>, ]{1,200}>)?|[a-z]\w{2,60}(?=\(\)`)"
    r"|(?-i:[a-z]{2,20}[A-Z]\w{2,60})(?=`? function\b))"
    r"(?:\(\))?`?(?:,? (?:in|at|of) `?(?:file )?(?P<file>[\w./\\-]{1,200}\.(?:cpp|cc|h|hpp))\b)?",
    re.IGNORECASE,
)
# The call that an assertion is about: `mlir::triton::LinearLayout::reshapeOuts(...) failed`.
_CALL_FAILED = regex(
    r"(?<![\w:])(?P<function>(?:[a-z_]\w{1,60}::){1,8}~?[a-z_]\w{1,60})\([^()\n]{0,200}\)[`']? (?P<file>)failed\b",
    re.IGNORECASE,
)
# An assertion at the end of a text, cut off before its expression.
_CUT_ASSERTION = regex(
    r"(?:[\w./-]{1,200}: )?(?P<file>\S{1,400}\.(?:cpp|cc|h|hpp|inc)):(?P<line>[1-9]\d{0,6}): "
    r"(?P<function>(?!error|warning|note|remark|fatal)[^`'\n]{2,2000}\([^`'\n]{0,2000}?)(?::(?: A[a-z]{0,8})?)?\s{0,4}$"
)


def _location(match: re.Match[str]) -> SourceLocation:
    number, column = match["closed"] or match["line"] or match["number"], match["column"]
    return SourceLocation(match["file"] or match["of"], int(number), int(column) if column else None)


def stated_line(line: str) -> SourceLocation | None:
    """The kernel location that a line states, if there is exactly one."""
    candidates = _LINE.finditer(line) if ".py" in line else ()
    # A location without a column at the end is a logger's.
    matches = [match for match in candidates if match["column"] or not match.group().endswith(f":{match['line']}")]
    return _location(matches[0]) if len(matches) == 1 else None


def _is_prose(line: str) -> bool:
    """True for a line in a user's own words, in any language, possibly with a diagnostic that has no location."""
    if frame_file(line) is not None or not (is_sentence(line) or _NOT_ENGLISH.search(line)):
        return False
    diagnostic = parse(line)
    return diagnostic is None or not diagnostic.locations


def _says_that_it_failed(match: re.Match[str]) -> bool:
    before, behind = match.string[: match.start()], match.string[match.end() :]
    return _FAILED_AT.search(before[-_NEAR:]) is not None or _THAT_FAILED.match(behind) is not None


def line_in_prose(lines: Iterable[str], failed: bool = False) -> SourceLocation | None:
    """The location in the user's code that sentences name, if there is exactly one.

    ``failed``: only where they say that it failed.
    """
    prose = (line for line in lines if ".py" in line and _is_prose(line))
    matches = (match for line in prose for match in _LINE.finditer(line))
    named = [_location(match) for match in matches if not failed or _says_that_it_failed(match)]
    if only((last_component(at.file), at.line) for at in named) is None:
        return None
    file = max((at.file for at in named), key=len)  # a title has the name alone
    return users_line(file, f"{file}:{named[0].line}")


def named_files(line: str) -> list[tuple[str, int, str | None]]:
    """The C++ files that a line names, each with its line number and the function named next to it."""
    return [
        (
            last_component(match["file"] or match["of"]),
            int(match["line"] or match["number"]),
            function_name(match["before"] or match["behind"] or ""),
        )
        for match in _FILE.finditer(line)
    ]


def named_file(lines: Iterable[str]) -> dict[str, Any] | None:
    """The location in the compiler's code that lines name, if there is exactly one."""
    functions = {at[:2]: at[2] for line in lines if not _NATIVE.match(line) for at in named_files(line)}
    location = only(functions)
    return location and {"file": location[0], "line": location[1], "function": functions[location]}


def file_in_prose(lines: Iterable[str]) -> dict[str, Any] | None:
    """The file of the compiler's code that sentences name as where it failed, if there is exactly one."""
    file = only(last_component(match["file"]) for line in lines for match in _FILE_ALONE.finditer(line))
    return {"file": file} if file else None


def crashed_function(lines: Iterable[str]) -> dict[str, Any] | None:
    """The compiler's function that lines report as crashed, if there is exactly one, and its file if they name it."""
    functions = {
        function_name(match["function"]): match["file"]
        for line in lines
        for said in (_CRASHED_IN, _CALL_FAILED)
        for match in said.finditer(line)
    }
    function = only(functions)
    if function is None:
        return None
    return {"function": function, "file": last_component(functions[function] or "") or None}


def cut_assertion(lines: Sequence[str]) -> dict[str, Any] | None:
    """The location of an assertion that is cut off at the end of the lines."""
    cut = _CUT_ASSERTION.match(lines[-1]) if lines else None
    if cut is None:
        return None
    return {
        "file": last_component(cut["file"]),
        "line": int(cut["line"]),
        "function": function_name(cut["function"]),
    }
