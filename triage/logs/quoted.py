"""A message quoted without the exception or the ``error:`` that it came with: alone, or in a sentence.

Only for a text without any other failure, and of a few lines, or about Triton: in others such words prove nothing.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from triage.logs.chains import lacks_reason
from triage.logs.described import plain_kind
from triage.logs.diagnostic_lines import parse
from triage.logs.evidence import LAUNCH
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.frontend_texts import frontends_text, is_frontends
from triage.logs.named_places import cut_assertion, named_files
from triage.logs.native_texts import kind_of
from triage.logs.patterns import regex
from triage.logs.recognisers import launch_error, llvm_diagnostic
from triage.logs.recognisers.python_exception import assertion_of
from triage.logs.user_frames import frame_file, is_installed, users_line
from triage.logs.window import Window
from triage.model.diagnosis import Kind

#: Lines, and characters of each, beyond which a text is not a quotation.
MAX_LINES = 8
_MAX_LINE = 600
#: The same for a text that only has terms of a compiler, which other programs have too, and launches no kernel.
MAX_TERMS = 4

_DEVICE = regex(r"misaligned address|address misaligned|illegal memory access")
_PYTHON = regex(
    r"(?:map::at|(?:type object )?'\w{1,80}'(?: object)? has no attribute '\w{1,80}'|name '\w{1,80}' is not defined"
    r"|`?[\w.]{1,80}`?(?:\(\))? (?:missing \d{1,3} required |got an unexpected keyword |takes \d{1,3} positional )"
    r".{1,200})\.?$"
)
# The front end's words; Python's have the name in quotation marks.
_NO_NAME = regex(r"[A-Za-z_]\w{0,80} is not defined\.?$")
# What the front end, or the interpreter, met in the kernel's source.
_ATTRIBUTE = regex(r"'(?:float|int|bool|tuple|list|str|constexpr|tensor|NoneType)' object has no attribute ")
# As people retype it: with other quotation marks, or none.
_MISSING = regex(r"\b(?P<owner>triton(?:\.\w{1,60}){0,5})\W{0,2} has no attribute \W?(?P<name>\w{1,80})")
# A term of the compiler, and a word for what is wrong with it.
_TERM = regex(r"\bMLIR (?:object|value)|layout|encoding|MMA|intrinsic|memdesc|swizzl|operand|legaliz", re.IGNORECASE)
_WRONG = regex(
    r"\b(?:must|unsupported|(?:un)?expected|invalid|failed|no matching|cannot|not supported)\b", re.IGNORECASE
)
# A title that consists of a compiler's message, and what such a message is about.
_MESSAGE = regex(r"(?:[Uu]nsupported|[Ii]nvalid|[Ee]xpected|[Cc]annot|[Ff]ailed to) [A-Za-z`'][^?]{12,300}$")
_ABOUT = regex(
    r"\b[A-Z]\w{1,40}Op\b|\b(?:MLIR|LLVM|TritonGPU|layout|encoding|MMA|conversion|lower(?:ing)?|legaliz\w+)\b"
)
# Of glog and absl, which the compiler does not use.
_CHECK = "Check failed: "
# What stands in quotation marks of any kind; a word alone is a name.
# The last of them in parentheses, with one pair inside at most, where its first word tells what it is.
_FRAGMENT = regex(
    r"`([^`\n]{1,600})`|\"([^\"\n]{12,600})\"|(?<=\s)'([^'\n]{12,600})'(?=[\s.,]|$)"
    r"|(?<=\s)\(((?:LLVM ERROR|ptxas (?:fatal|error) {0,3}|error"
    r"|(?:[a-z_]\w{0,40}\.){0,6}[A-Z]\w{1,60}(?:Error|Exception)): "
    r"[^()\n]{4,400}(?:\([^()\n]{0,200}\)[^()\n]{0,400})?)\)"
)
_SHORTEST = 12
_RUN = "PassManager::run failed"
_RUN_FAILED = regex(
    r"(?:\b(?:with|error|hits?|gets?|got|sees?|seeing|getting|raises?)|:) "
    r"[`\"']?(?:RuntimeError: )?PassManager::run failed",
    re.IGNORECASE,
)
# What the launcher, which is C, raises, and JAX's Pallas as it lowers a kernel to Triton.
_RAISED: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "ValueError",
        regex(
            r"CUtensorMap must be aligned to \d{1,6}B[^`\"]{0,80}"
            r"|Pointer argument \(at \d{1,4}\) "
            r"(?:cannot be accessed from Triton \(cpu tensor\?\)|doesn't reference \w+)"
            r"|The Pallas Triton lowering currently requires that [^`\"]{8,300}"
        ),
    ),
    ("SystemError", regex(r"PY_SSIZE_T_CLEAN macro must be defined for '#' formats")),
    (
        "NotImplementedError",
        regex(
            r"Unimplemented primitive in Pallas GPU lowering: [\w-]{2,60}"
            r"|\b[A-Za-z][\w ]{4,80} not supported in Triton lowering\b"
            r"|\b[A-Za-z][\w ]{4,80} not (?:supported|implemented) in the Triton backend\b"
        ),
    ),
)
# An exception, or a verifier's error, behind other words, as in a title: `[Bug] ValueError: text`.
_TITLED = regex(
    r"(?:[\]:]|\b(?i:errors?|with|got|hits?|raises?|throws?|and|an?)) "
    r"(?P<error>(?:[a-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|ErrorImpl|Exception)(?:: \S|\(['\"]).{4,600}"
    # of which markup may take the first quotation mark
    r"|'?(?P<operation>[a-z]\w{0,20}\.[\w.]{1,60}' op \S.{4,600}))$"
)
_BARE_ASSERTION = regex(r"`AssertionError`|\bassertion (?:errors?|fails|failed|failing|failure)\b", re.IGNORECASE)
# Two of the names are Triton's alone.
_FRONTEND_NAME = regex(
    r"(?<!\w)((?:UnsupportedLanguageConstruct|CompileTimeAssertionFailure)\b(?!:? {0,4}at \d)|CompilationError(?=`))"
)
# Exceptions that only a compile or launch raises; of others the name alone says nothing.
_NAME_ALONE = regex(
    r"(?:with|errors?|gets?|got|hits?|raises?|throws?):? `?(?:\w{1,40}\.){0,6}"
    r"(NoConfigFound|NoTritonConfigsError|NoValidChoicesError|OutOfResources|PTXASError|InterpreterError)\b(?!:)"
)
_STATIC_ASSERT = regex(r"^\s{0,40}((?:tl|gl)\.static_assert\(.{1,300})$")
# Lines of Python, in which a text is a string.
_SOURCE = regex(
    r"\s{4}|\s*(?:raise|return|assert|print|def|@[\w.]{1,80}(?:\(|$)|#)"
    r"|\s*[\w.\[\]]{1,60}(?:, ?[\w.\[\]]{1,60}){0,8} ?=(?!=)|\s*[\w.]{1,80}\("
)
# How people retell well-known failures, and in which words Triton tells them.
_RETOLD: tuple[tuple[re.Pattern[str], Kind, str], ...] = (
    (
        regex(
            r"(?:error|fail|cannot|missing|not find|失败|无法|报错|错误).{0,80}(?<![a-z_])AttrsDescriptor(?![a-z_])",
            re.IGNORECASE,
        ),
        Kind.ENVIRONMENT,
        "cannot import name 'AttrsDescriptor'",
    ),
    (
        regex(r"\bnon-constexpr\W{1,3}globals?\b"),
        Kind.FRONTEND_ERROR,
        "Cannot access global variable from within @jit'ed function",
    ),
    (
        regex(r"(?<![A-Za-z_])M ?(?:≥|>=|≧) ?16\W{1,3}N ?(?:≥|>=|≧) ?16"),
        Kind.FRONTEND_ERROR,
        "Input shapes should have M >= 16, N >= 16 and K >= 16",
    ),
    # The advice that ends the message.
    (
        regex(r"\bReducing block sizes or .{0,4}num_stages.{0,3} may help"),
        Kind.OUT_OF_RESOURCES,
        "Out of a resource that is not in this text; reducing block sizes or num_stages may help",
    ),
)
# A log that breaks off at a line that raises.
_RAISES = regex(
    r"\s{0,40}raise (?:\w{1,60}\.){0,6}(?P<name>[A-Z]\w{1,80})\(f?(?P<mark>[\"'])(?P<text>(?:(?!(?P=mark)).){8,600})"
)
# Words of MLIR's and LLVM's without what they print before them, whatever stands around them.
_BARE = (
    (
        "error: ",
        regex(
            r"(?:^|[\s:`\"'(])(?P<text>failed to (?:legalize|materialize)\b.{0,80} operation '[a-z_]{1,20}\.\w{1,60}'"
            r"(?: that was explicitly marked illegal| marked as erased)?)"
        ),
    ),
    (
        "error: ",
        regex(r"(?:^|[\s:`\"'(])(?P<text>LLVM Translation failed for operation: [a-z_]{1,20}\.\w{1,60})"),
    ),
    (
        "LLVM ERROR: ",
        regex(
            r"(?:^|[\s:`\"'(])"
            r"(?P<text>Cannot select: (?:intrinsic %[\w.]{1,200}|(?:0x\w{1,16}|t\d{1,7}): .{1,200})"
            r"|Bad machine code: [A-Z][^\"`*]{8,200})"
        ),
    ),
)
# An assertion of which a sentence has only the function.
_ASSERTS = regex(r"\bassert(?:ion|s)?\b[^.`]{0,40}\bin `?(?P<function>(?:[A-Za-z]\w{1,60}::){1,4}~?\w{1,60})")
# One that it quotes, or of which it has only the file.
_ASSERTED = regex(
    r"(?<!static )\b(?:[Aa]ssert(?:ion|s)?|ASSERT(?:ION)?)(?: errors?| fail(?:s|ed|ures?))?(?: on| with)?:? "
    r"(?:`(?P<code>[^`\n]{4,400})`|'(?P<single>[^'\n]{4,400})'|\"(?P<double>[^\"\n]{4,400})\")(?=['\s.,;:)]|$)"
)
# What a program prints, which is none of these: `/b/Indexing.cu:92: f: block: [0,0,0], …`.
_PRINTED = regex(r"\S{1,400}:\d{1,7}: ")
_ASSERTION_AT = regex(r"\b[Aa]ssert(?:ion|s)?\b[^.]{0,60}(?:\b(?:in|at) |\()")
# The expression as it is written in the source.
_CALLED = regex(
    r"\b(?:fail|abort|crash|trigger|hit|trip)\w{0,5} (?:(?:on|at|in|with|the|an|this) ){0,3}"
    r"`?assert\((?P<code>[^`\n]{3,300})\)"
)
# Of a title: `[BUG] text`.
_TAG = regex(r"^\[[^\]]{1,40}\]:? {1,2}")
# What a clause may follow.
_CLAUSES = (": ", ". ", "`", '"')


def _kind(line: str) -> Kind | None:
    if is_frontends(line):
        return Kind.FRONTEND_ERROR
    if kind := kind_of(line):
        return kind
    if _DEVICE.match(line):
        return Kind.LAUNCH_ERROR
    if _PYTHON.match(line):
        return Kind.PYTHON_EXCEPTION
    if _CHECK in line or not _WRONG.search(line) or plain_kind(line) is Kind.ASSERTION:
        return None
    return Kind.MLIR_DIAGNOSTIC if _TERM.search(line) else None


def quoted(lines: list[str]) -> Finding | None:
    """The failure that a few lines quote, if any."""
    if not 0 < len(lines) <= MAX_LINES:
        return None
    terms_count = len(lines) <= MAX_TERMS or any(map(LAUNCH.search, lines))
    for position, line in enumerate(lines):
        message = line.strip().strip("\"'> ") if not line.strip().startswith("'") else line.strip()
        kind = _kind(message) if len(message) <= _MAX_LINE else None
        if kind is not None and (terms_count or kind is not Kind.MLIR_DIAGNOSTIC):
            stage = "source" if kind is Kind.FRONTEND_ERROR else None
            return Finding(bounded_diagnosis(kind, message, message, stage=stage), Specificity.DIAGNOSTIC, position)
    return None


def _bare(position: int, line: str, read: Callable[[Window], Finding | None]) -> Finding | None:
    for severity, pattern in _BARE:
        if bare := pattern.search(line):
            return read(Window(position, f"{severity}{bare['text']}", (), (), ()))
    return None


def _stated(position: int, line: str) -> Finding | None:
    """The text of an exception of Triton's, or of Python's about a kernel, without the exception's name."""
    # As a heading or in bold, too.
    stated = _TAG.sub("", line.strip().lstrip("#*> ").rstrip("* "))
    if raised_text := next(filter(_PYTHON.match, (stated, stated.rpartition(": ")[2])), None):
        diagnosis = bounded_diagnosis(Kind.PYTHON_EXCEPTION, raised_text, raised_text)
    elif missing := _MISSING.search(line):
        shown = f"AttributeError: module '{missing['owner']}' has no attribute '{missing['name']}'"
        diagnosis = bounded_diagnosis(Kind.PYTHON_EXCEPTION, shown, shown, exception="AttributeError")
    elif _SOURCE.match(line):
        return None
    elif raised := next(((name, match) for name, text in _RAISED if (match := text.search(line))), None):
        shown = f"{raised[0]}: {raised[1].group()}"
        diagnosis = bounded_diagnosis(Kind.PYTHON_EXCEPTION, shown, shown, exception=raised[0])
    elif retold := next(((kind, text) for pattern, kind, text in _RETOLD if pattern.search(line)), None):
        diagnosis = bounded_diagnosis(retold[0], retold[1], f"{retold[1]}\n{line}")
    elif kind := kind_of(stated):
        diagnosis = bounded_diagnosis(kind, stated, stated)
    elif (begin := frontends_text(line)) is not None:
        begin = _clause(line, begin)
        diagnosis = bounded_diagnosis(Kind.FRONTEND_ERROR, line[begin:], line[begin:], stage="source")
    else:
        return None
    return Finding(diagnosis, Specificity.EXCEPTION, position)


def _clause(line: str, position: int) -> int:
    """Where the text with a known part at ``position`` begins: there, or, if that part is from within a sentence, where
    its clause does."""
    if line[position].isupper():
        return position
    before = line[:position]
    ends = [before.rindex(mark) + len(mark) for mark in _CLAUSES if mark in before]
    return max(ends, default=len(line) - len(line.lstrip("#*> ")))


def _is_library(frame: str) -> bool:
    """True for a traceback's frame in Python's own files or in a package."""
    file = frame_file(frame)
    return file is not None and (is_installed(file) or users_line(file, frame) is None)


def _first(pattern: re.Pattern[str], lines: Iterable[str]) -> str | None:
    """The first group of the first line that has the pattern."""
    return next((match[1] for line in lines if (match := pattern.search(line))), None)


def _named(lines: list[str]) -> Finding | None:
    """An exception of which only the name is quoted; a front-end error's with the assertion of the kernel's author, if
    that is shown."""
    name = _first(_FRONTEND_NAME, lines)
    if name is None:
        if (name := _first(_NAME_ALONE, lines)) is None:
            return None
        return Finding(bounded_diagnosis(Kind.PYTHON_EXCEPTION, name, name, exception=name), Specificity.EXCEPTION, 0)
    asserted = _first(_STATIC_ASSERT, lines)
    shown = f"{name}: {asserted}" if asserted else name
    diagnosis = bounded_diagnosis(Kind.FRONTEND_ERROR, shown, shown, exception=name, stage="source")
    return Finding(diagnosis, Specificity.DIAGNOSTIC, 0)


def quoted_in_prose(lines: list[str], read: Callable[[Window], Finding | None]) -> Finding | None:
    """The failure that somebody quotes in a sentence: a cause, or a pass manager's failure."""
    cause = quoted_cause(lines, read)
    if cause and cause.specificity > Specificity.TAIL:
        return cause
    for position, line in enumerate(lines):
        if _RUN_FAILED.search(line):
            shown = f"RuntimeError: {_RUN}"
            diagnosis = bounded_diagnosis(Kind.MLIR_DIAGNOSTIC, shown, shown, exception="RuntimeError")
            return Finding(diagnosis, Specificity.TAIL, position)
    return cause


def _fragment(position: int, text: str, read: Callable[[Window], Finding | None]) -> Finding | None:
    """What a text in quotation marks or backticks says, if that is a cause."""
    if len(text) < _SHORTEST or " " not in text or text.endswith(("…", "...", _RUN)):
        return None
    if finding := read(Window(position, text, (), (), ())):
        return finding
    # Of an error of LLVM's only the text.
    if llvm_diagnostic.error_text(f"error: {text}"):
        return Finding(bounded_diagnosis(Kind.LLVM_DIAGNOSTIC, f"LLVM: {text}", text), Specificity.EXCEPTION, position)
    # Of an error of the driver's.
    if launch_error.error_text(f"error: {text}") and (finding := read(Window(position, f"error: {text}", (), (), ()))):
        return replace(finding, diagnosis=replace(finding.diagnosis, message=text))
    if finding := _bare(position, text, read):
        return finding
    if _NO_NAME.match(text):
        shown = f"NameError: {text}"
        diagnosis = bounded_diagnosis(Kind.FRONTEND_ERROR, shown, shown, exception="NameError", stage="source")
        return Finding(diagnosis, Specificity.DIAGNOSTIC, position)
    if kind := _kind(text):
        stage = "source" if _ATTRIBUTE.match(text) else None
        return Finding(bounded_diagnosis(kind, text, text, stage=stage), Specificity.DIAGNOSTIC, position)
    return None


def quoted_cause(lines: list[str], read: Callable[[Window], Finding | None]) -> Finding | None:
    """What somebody quotes in a sentence that says why something failed: a text in quotation marks or backticks that
    ``read`` recognises, or one that is known whatever stands around it. What the compiler stopped itself with comes
    before words that are quoted without that."""
    fragments = [
        finding
        for position, line in enumerate(lines)
        if not _SOURCE.match(line)
        for fragment in _FRAGMENT.findall(line)
        if (finding := _fragment(position, next(filter(None, fragment)).strip(), read))
    ]
    if fragments:
        return max(fragments, key=lambda finding: finding.specificity is Specificity.FATAL)
    for position, line in enumerate(lines):
        titled = None if _SOURCE.match(line) else _TITLED.search(line)
        error = titled and (f"'{titled['operation']}" if titled["operation"] else titled["error"])
        if error and (finding := read(Window(position, error, (), (), ()))) and not lacks_reason(finding):
            return finding
    for position, line in enumerate(lines):
        if not _SOURCE.match(line.strip()) and (finding := _bare(position, line, read)):
            return finding
        if finding := _stated(position, line):
            return finding
    if len(lines) > 1 and _is_library(lines[-2]) and (raised := _RAISES.match(lines[-1])):
        return read(Window(len(lines) - 1, f"{raised['name']}: {raised['text']}", (), (), ()))
    if any(map(_BARE_ASSERTION.search, lines)) and (reason := assertion_of(lines)):
        shown = f"AssertionError: {reason}"
        diagnosis = bounded_diagnosis(Kind.PYTHON_EXCEPTION, shown, shown, exception="AssertionError")
        return Finding(diagnosis, Specificity.EXCEPTION, 0)
    asserted = _asserted(lines)
    if asserted is None and (cut := cut_assertion(lines)):
        shown = f"Assertion failed in {cut['function'] or cut['file']}; the text breaks off before its expression"
        diagnosis = bounded_diagnosis(Kind.ASSERTION, shown, lines[-1], **cut)
        return Finding(diagnosis, Specificity.DIAGNOSTIC, len(lines) - 1)
    if asserts := _ASSERTS.search(" ".join(line.strip() for line in lines)):
        shown, stated = f"Assertion failed in {asserts['function']}", asserts.group()
        diagnosis = bounded_diagnosis(Kind.ASSERTION, shown, stated, function=asserts["function"])
        return Finding(diagnosis, Specificity.DIAGNOSTIC, 0)
    return asserted or _named(lines) or _remarked(lines) or _of_title(lines)


def _remarked(lines: list[str]) -> Finding | None:
    """The first remark or warning at a location that says that something failed, where the text breaks off before the
    error that follows from it."""
    for position, line in enumerate(lines):
        remark = parse(line)
        if remark and remark.severity in ("remark", "warning") and remark.locations and _WRONG.search(remark.text):
            source = remark.locations[0]
            diagnosis = bounded_diagnosis(Kind.MLIR_DIAGNOSTIC, remark.text, line.strip(), source=source)
            return Finding(diagnosis, Specificity.SYMPTOM, position, remark.locations)
    return None


def _of_title(lines: list[str]) -> Finding | None:
    """The compiler's message that a title consists of, where what is below it has no other."""
    title = _TAG.sub("", lines[0].strip()) if len(lines) > 1 else ""
    if not (_MESSAGE.match(title) and _ABOUT.search(title)):
        return None
    return Finding(bounded_diagnosis(Kind.MLIR_DIAGNOSTIC, title, title), Specificity.SYMPTOM, 0)


def _asserted(lines: list[str]) -> Finding | None:
    """An assertion of the compiler's that a sentence quotes, or of which it has only the file."""
    for position, line in enumerate(lines):
        if _SOURCE.match(line) or _PRINTED.match(line):
            continue
        if quotes := _ASSERTED.search(line):
            shown = f"Assertion failed: {quotes[quotes.lastgroup or 0]}"
            return Finding(bounded_diagnosis(Kind.ASSERTION, shown, line.strip()), Specificity.DIAGNOSTIC, position)
        if called := _CALLED.search(line):
            shown = f"Assertion failed: {called['code']}"
            return Finding(bounded_diagnosis(Kind.ASSERTION, shown, line.strip()), Specificity.DIAGNOSTIC, position)
        if (at := _ASSERTION_AT.search(line)) and len(named := {*named_files(line[at.start() :])}) == 1:
            ((file, number, function),) = named
            shown, facts = f"Assertion failed in {function or file}: {line.strip()}", {"file": file, "line": number}
            diagnosis = bounded_diagnosis(Kind.ASSERTION, shown, line.strip(), **facts, function=function)
            return Finding(diagnosis, Specificity.DIAGNOSTIC, position)
    return None
