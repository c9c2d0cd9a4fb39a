"""Triton's front-end rejects the kernel: ``CompilationError`` and its subclasses.

::

    triton.compiler.errors.CompilationError: at 8:8:
    def mark_seen(ids_ptr, …):          up to twelve lines of the kernel, counted from its ``def``
            tl.atomic_or(seen_ptr + ids, one)
            ^
    atomic_or does not support int8     missing where the cause is an exception of its own

Some releases print the cause as ``repr``: ``ValueError('…')``.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from triage.logs.diagnostic_lines import is_caret
from triage.logs.finding import Finding
from triage.logs.frontend_texts import is_languages
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind, SourceLocation

#: Triton's front-end exceptions, in every release.
FRONTEND_ERRORS = ("CompilationError", "UnsupportedLanguageConstruct", "CompileTimeAssertionFailure")
#: The file's name where the excerpt does not show it.
UNKNOWN_FILE = "<kernel>"

#: Functions of triton/language/standard.py and random.py, in any release from 3.0 to 3.9. An error inside one is
#: of the line that called it.
LIBRARY_FILE = "triton/language/standard.py"
_LIBRARY_FUNCTIONS = frozenset(
    {
        "_argmax_combine", "_argmax_combine_tie_break_fast", "_argmax_combine_tie_break_left",
        "_argmin_combine", "_argmin_combine_tie_break_fast", "_argmin_combine_tie_break_left",
        "_bitonic_merge", "_bitonic_merge_hypercube", "_compare_and_swap", "_elementwise_max",
        "_elementwise_min", "_indicator", "_or_combine", "_prod_combine", "_sum_combine", "_xor_combine",
        "argmax", "argmin", "bitonic_merge", "cdiv", "cumprod", "cumsum", "flip", "interleave", "max", "min",
        "pair_uniform_to_normal", "philox", "philox_impl", "rand", "rand4x", "randint", "randint4x", "randn",
        "randn4x", "ravel", "reduce_or", "sigmoid", "softmax", "sort", "sort_impl", "squeeze", "sum",
        "swizzle2d", "topk", "uint_to_uniform_float", "unsqueeze", "xor_sum", "zeros", "zeros_like",
    }
)  # fmt: skip
_PRIVATE_CALL = regex(r"\b(_\w{1,100})\(")
_DEF = regex(r"^\s{0,64}def (\w{1,200})\(")

# A worker's report in the exception of whoever called it: its first line is the position.
_IN_ANOTHER = regex(
    r"(?:[\w.]{1,200}\.)?\w{1,100}(?:Error|Exception): .{0,200}\berror:? ['\"]at "
    r"(?P<position>\d{1,7}:\d{1,7}:.{0,4000})"
)
# What is left of it in a report of `str(error)`: `Job failed: at 2:34:`, above the kernel.
_UNNAMED = regex(r"(?:.{0,400}[\s:(])?(?P<position>at [1-9]\d{0,6}:\d{1,7}:)\**(?P<rest>(?:\s.{0,400})?)$")
_OF_KERNEL = regex(r"\s{0,64}(?:def \w{1,200}\(|@triton\.|@gluon\.)|.{0,400}\b(?:t|g|ttg)l\.[a-z]")
_STATED = regex(
    r"(?:(?P<wrapper>(?:[\w.]{1,200}\.)?\w{1,100}(?:Error|Exception|Failed)): )?(?:[\w.]{1,200}\.)?"
    r"(?P<name>CompilationError|UnsupportedLanguageConstruct|CompileTimeAssertionFailure)"
    r"(?::? {1,4}(?:at )?(?P<line>\d{1,7}):(?P<column>\d{1,7})(?::|(?= )|$)(?P<rest>.{0,4000})|: (?P<text>\S.{0,4000})"
    r"|:?\s{0,8}$)"
)
# Behind words of whoever pasted it, without a space; in quotation marks it is prose.
_QUALIFIED = regex(
    r"(?<![`'\"\w.])(?:(?:torch\._inductor\.exc\.|triton\.compiler\.errors\.)(?=[A-Z])"
    r"|(?=CompilationError:? at \d{1,7}:\d{1,7}:))"
)
# Of an exception's text that begins on the next line.
_POSITION = regex(r"\s{0,80}at \d{1,7}:\d{1,7}:")
# As `repr` shows it, which asyncio logs: `<Task … exception=CompilationError('at 38:4:\ndef k(…`.
_SHOWN = regex(
    r"(?:^|[=\[( ])(?P<name>CompilationError|UnsupportedLanguageConstruct|CompileTimeAssertionFailure)"
    r"\((?P<quote>['\"])(?P<text>at \d{1,7}:\d{1,7}:.{0,8000}?)(?:(?P=quote),?\).{0,200})?$"
)
# The same with the exception's text alone, in quotation marks that may be escaped.
_QUOTED = regex(r"(?P<quote>\\?['\"])(?P<text>at \d{1,7}:\d{1,7}:\\n.{0,8000})(?P=quote)")
_REPR = regex(r"^(?P<type>[A-Z]\w{2,80})\((?:(?P<quote>[\"'])(?P<text>.{0,3900})(?P=quote),?)?\)$")
# What torch, a server or whoever reports it prints below an exception without words: advice, a heading, a log's line.
_AFTERWARDS = regex(
    r"(?:Set|set) [A-Z_]{4,40}=|For (?:developer )?debugging |You can suppress this|#{1,6} |\*\*\w"
    r"|Prompt executed in"
    r"|\[?\d{4}-\d\d-\d\d[T ]|\[rank\d|(?:ERROR|WARNING|INFO|CRITICAL|DEBUG) \S{1,100}:\d{1,6}\b"
)
# The caret and the cause on one line: where lines were joined, also with the kernel's before them.
_JOINED_CARET = regex(r"(?P<caret>\s{0,400}\^)\s{1,40}(?P<cause>\S.{0,4000})$")
_JOINED_EXCERPT = regex(r"(?P<excerpt>.{0,4000}?)\s\^\s{1,40}(?P<cause>[^\s^].{0,4000})$")
# What ends the line above a report, in which the file is unknown.
_FILE_ABOVE = regex(r"(?:^|[\s(])(?:in|inside|at|from|of|file:?) [`'\"]?(?P<file>[^\s`'\"(),]{1,300}\.py)[`'\"]?:?$")
_TRACEBACK = "Traceback (most recent call last)"
_OF_FRONT_END = regex(r"(?:Assertion|Attribute|Index|Key|Name|NotImplemented|Type|Value)Error(?:: \S|\(['\"])")
#: Lines of the kernel that the front end shows, and the caret.
_MAX_EXCERPT = 16
#: A cause written over several lines is cut here.
_MAX_CAUSE_LINES = 12
#: One that is quoted by ``repr`` is wrapped into so many at most.
_MOST_WRAPPED = 3


def unrepr(exception: str) -> str:
    """``ValueError('x')`` -> ``ValueError: x``; any other text unchanged."""
    match = _REPR.match(exception)
    if match is None:
        return exception
    return match["type"] if match["text"] is None else f"{match['type']}: {match['text']}"


def _shown_cause(after: Iterable[str]) -> list[str]:
    """The lines below an exception that show its cause as ``repr`` does, perhaps wrapped; none where they do not."""
    lines: list[str] = []
    for line in islice(after, _MOST_WRAPPED):
        lines.append(line.strip())
        if _REPR.match(" ".join(lines)):
            return lines
    return []


def _ends_block(line: str) -> bool:
    begins = ("Traceback (", "  File ", "nanobind: ", "During handling", "The above ", "```", "~~~", "!!!!", "====")
    # Without a word: what is left out, or the end of a string or a block.
    return not any(map(str.isalnum, line)) or line.startswith(begins) or _AFTERWARDS.match(line) is not None


def _in_library(first_line: str, after: Sequence[str], count: int, excerpt: str | None) -> bool:
    """True when the excerpt is from one of Triton's own functions: it has its ``def``, or calls a private one."""
    for line in (first_line, *(after[index] for index in range(count))):
        if match := _DEF.match(line):
            return match.group(1) in _LIBRARY_FUNCTIONS
    called = _PRIVATE_CALL.findall(excerpt or "")
    return any(name in _LIBRARY_FUNCTIONS for name in called)


def _numbered(first_line: str, after: Sequence[str], number: int) -> str | None:
    """The line of a kernel that is shown without the caret: they are counted from its ``def``."""
    shown = [*([first_line] if first_line.strip() else []), *islice(after, _MAX_EXCERPT)]
    whole = number <= len(shown) and _DEF.match(shown[0]) and not any(map(_ends_block, shown[:number]))
    return shown[number - 1].rstrip() if whole else None


def _is_cause(line: str) -> bool:
    """True for an exception that the front end raises, with its name or without."""
    return _OF_FRONT_END.match(line) is not None or is_languages(line)


def _cause_apart(after: Sequence[str], below: int) -> int | None:
    """The line of an exception that the front end raises, below an empty line, as some paste it, or below its own
    traceback, as Helion prints it; ``below`` is the caret's next line. None where there is none."""
    traceback = after[below].startswith(_TRACEBACK)
    if not traceback and after[below].strip():
        return None
    line = next((n for n in range(below + 1, len(after)) if not traceback or after[n][:1].strip()), None)
    return line if line is not None and _is_cause(after[line]) else None


def _cause_below(after: Sequence[str]) -> int:
    """The line of the cause below an excerpt that was pasted without its caret; 0 where there is none."""
    for index, line in enumerate(islice(after, _MAX_EXCERPT)):
        if line.strip() and not line.startswith((" ", "\t", "def ", "@")):
            return index if _is_cause(line) or _shown_cause(islice(after, index, None)) else 0
    return 0


def _excerpt_and_cause(after: Sequence[str], first_line: str, line_number: int) -> tuple[str | None, list[str], int]:
    """The excerpt's last line, the cause's lines, and the number of lines consumed."""
    caret = next((index for index, line in enumerate(after) if is_caret(line)), None)
    # At most twelve lines precede the caret, and never more than the function has up to the error.
    if caret is None or caret > _MAX_EXCERPT:
        cause = []
        for line in list(after)[:_MAX_CAUSE_LINES] if not first_line else []:
            if _ends_block(line) or line.startswith((" ", "def ", "@")):
                break
            cause.append(line)
        below = 0 if cause else _cause_below(after)
        if below:
            shown = _shown_cause(islice(after, below, None)) or [after[below]]
            return after[below - 1].rstrip(), [" ".join(shown)], below + len(shown)
        return _numbered(first_line, after, line_number), cause, len(cause)
    # With its indentation: the column counts it.
    excerpt = after[caret - 1].rstrip() if caret else first_line.rstrip() or None
    cause = []
    for index in range(caret + 1, min(caret + 1 + _MAX_CAUSE_LINES, len(after))):
        # A cause that is quoted whole ends with its line.
        if _ends_block(after[index]) or (cause and _REPR.match(cause[0].strip())):
            break
        cause.append(after[index])
    apart = _cause_apart(after, caret + 1) if not cause and caret + 1 < len(after) else None
    if apart is not None:
        return excerpt, [after[apart]], apart + 1
    return excerpt, cause, caret + 1 + len(cause)


def _apart(first_line: str, after: Sequence[str]) -> tuple[str, Sequence[str], int]:
    """The exception's first line and the lines below it, with the caret, which lines that were joined have before the
    cause or also behind the kernel, on a line of its own; and by how many lines that is more than the text has."""
    joined = _JOINED_EXCERPT.match(first_line)
    if joined and (_is_cause(joined["cause"]) or _REPR.match(joined["cause"])):
        return joined["excerpt"], ["^", joined["cause"], *after], 2
    for index, line in enumerate(islice(after, _MAX_EXCERPT)):
        if joined := _JOINED_CARET.match(line):
            return (
                first_line,
                [*islice(after, index), joined["caret"], joined["cause"], *islice(after, index + 1, None)],
                1,
            )
    return first_line, after, 0


def _file_above(before: Sequence[str]) -> str | None:
    """The file that the sentence above a report ends with."""
    above = next((line.strip() for line in reversed(before) if line.strip()), "")
    named = _FILE_ABOVE.search(above)
    return named["file"] if named else None


def _unnamed(line: str, after: Sequence[str]) -> str | None:
    """The exception's first line where only the position in it was printed, above an excerpt of a kernel."""
    position = _UNNAMED.match(line)
    if position is None or not any(map(_OF_KERNEL.match, [position["rest"], *islice(after, _MAX_EXCERPT)])):
        return None
    return f"{FRONTEND_ERRORS[0]}: {position['position']}{position['rest']}"


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if not any(name in line for name in FRONTEND_ERRORS) and (unnamed := _unnamed(line, window.after)):
        line = unnamed
    if another := _IN_ANOTHER.match(line):
        line = f"{FRONTEND_ERRORS[0]}: at {another['position']}"
    after: Sequence[str] = window.after
    if shown_as := _SHOWN.search(line) or _QUOTED.search(line):
        first, *after = shown_as["text"].split("\\n")
        line = f"{shown_as.groupdict().get('name', FRONTEND_ERRORS[0])}: {first}"
    below = next(iter(after), "")
    if is_wrapped := line.endswith(tuple(f"{name}:" for name in FRONTEND_ERRORS)) and bool(_POSITION.match(below)):
        line, after = f"{line} {below.strip()}", [*islice(after, 1, None)]
    qualified = _QUALIFIED.search(line)
    stated = _STATED.match(line, qualified.start() if qualified else 0)
    if stated is None:
        return None
    name = stated["name"]
    source: SourceLocation | None = None
    block: list[str] = []
    joined = 0
    if stated["line"] is not None:
        first, after, joined = _apart(stated["rest"].rstrip(), after)
        excerpt, cause, count = _excerpt_and_cause(after, first, int(stated["line"]))
        file = LIBRARY_FILE if _in_library(first, after, count, excerpt) else _file_above(window.before) or UNKNOWN_FILE
        source = SourceLocation(file, int(stated["line"]), int(stated["column"]) + 1, excerpt)
        block = [after[index] for index in range(count)]
        reason = "\n".join(cause).strip()
    else:
        reason = (stated["text"] or "").strip()
        # Whoever pasted it left the position and most of the kernel out, or all of it.
        for begin in range(_MAX_EXCERPT if _DEF.match(reason) else not reason):
            if cause := _shown_cause(islice(window.after, begin, None)):
                block, reason = [*islice(window.after, begin), *cause], " ".join(cause)
                break
    reason = unrepr(reason)
    shown = reason.partition("\n")[0] or (f"{name} at {source.text.strip()}" if source and source.text else name)
    return finding(
        window,
        Kind.FRONTEND_ERROR,
        shown,
        reason or "\n".join([line, *block]),
        locations=(source,) if source else (),
        extent=0 if shown_as else max(len(block) + is_wrapped - joined, 0),
        exception=name,
        stage="source",
    )


RECOGNISER = Recogniser(
    anchors=(*FRONTEND_ERRORS, "rror 'at ", 'rror "at ', "rror: 'at ", *(f"at {digit}" for digit in range(1, 10))),
    read=_read,
    examples={
        "triton.compiler.errors.CompilationError: at 1:0:\ndef k():\n^\nbad": Kind.FRONTEND_ERROR,
        "triton.compiler.errors.CompileTimeAssertionFailure: at 1:0:\ndef k():\n^\nbad": Kind.FRONTEND_ERROR,
        "torch._inductor.exc.InductorError: CompilationError: at 1:0:": Kind.FRONTEND_ERROR,
        r"The terminal says \'at 1:0:\ndef k():\n^\nValueError(\"bad\")\',": Kind.FRONTEND_ERROR,
        r"<Task finished exception=CompilationError('at 1:0:\ndef k():\n^')>": Kind.FRONTEND_ERROR,
        "Job failed: at 2:4:\ndef k(n: tl.constexpr):\n    ^\nNameError('tl is not defined')": Kind.FRONTEND_ERROR,
        "RuntimeError: Worker failed with error 'at 1:0:\ndef k():\n^\nbad": Kind.FRONTEND_ERROR,
    },
)
