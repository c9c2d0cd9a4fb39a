"""A failed C or C++ assertion, as glibc, libc++, BSD, MSVC, musl and abseil print it.

A line that is cut off in the expression still has the file and the function.

glibc:  ``python: /b/Dialect.cpp:2404: int A::f(int) const: Assertion `k >= 1 && "why"' failed.``
libc++: ``/usr/include/c++/v1/vector:1393: assertion __n < size() failed: vector[] index out of bounds``
BSD:    ``Assertion failed: (k >= 1 && "why"), function f, file Dialect.cpp, line 2404.``
MSVC:   ``Assertion failed: k >= 1 && "why", file D:\\b\\Dialect.cpp, line 2404``
newlib: ``assertion "k >= 1" failed: file "/b/Dialect.cpp", line 2404, function: f``
musl:   ``Assertion failed: k >= 1 && "why" (/b/Dialect.cpp: f: 2404)``
gdb:    ``#5 0x7f in __assert_fail (assertion=0x7f "k >= 1", file=0x7f "/b/Dialect.cpp", line=2404, function=0x7f "f"``
abseil: ``F0728 05:37:45.123456 4242 Dialect.cpp:2404] Check failed: k >= 1 (0 vs. 1) why``
"""

from dataclasses import dataclass
from itertools import islice, takewhile

from triage.logs import diagnostic_lines, text
from triage.logs.diagnostic_lines import error_before
from triage.logs.finding import Finding, Specificity
from triage.logs.functions import function_name, template_bindings
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

# As retyped by a user.
_MISSPELT = regex(r": Ass\w{2,7}on (?=[`'])")
# Markdown takes both marks for code in code.
_UNQUOTED = regex(r"\.(?:cpp|cc|h|hpp|inc):\d{1,7}: .{1,2000}\): Assertion (?![`'\"]).{3,2000} failed\b")
# Those that have each part once: in Google's programs, newlib's, and MSVC's in a window.
_LABELLED = (
    regex(
        r"assert\.h assertion failed at (?P<file>[^\s:]{1,1000}):(?P<line>\d{1,7}) in "
        r"(?P<function>.{1,1000}?\)(?: const)?): (?P<expression>\S.{0,4000})"
    ),
    regex(
        r"\bassertion \"(?P<expression>.{1,4000})\" failed: file \"(?P<file>[^\"]{1,1000})\", line (?P<line>\d{1,7})"
        r"(?:, function: (?P<function>.{1,1000}))?"
    ),
    regex(
        r"Assertion failed! .{0,1000}?\bFile: (?P<file>\S.{0,1000}?) {1,4}Line: (?P<line>\d{1,7}) {1,4}"
        r"(?P<function>)Expression: (?P<expression>\S.{0,4000})"
    ),
)
_WINDOW = "Assertion failed!"
_LINES_OF_WINDOW = 9
_LINE = regex(r":(\d{1,7}): ")
_QUOTED = regex(r'"((?:[^"\\]|\\.){1,2000})"')
_MUSL = regex(
    r"Assertion failed: (?P<expression>.{1,4000}) "
    r"\((?P<file>[^():\s][^():]{0,1000}): (?P<function>[^:()]{1,400}): (?P<line>\d{1,7})\)$"
)
# BSD's, cut off before the line.
_WITHOUT_LINE = regex(r"(?P<expression>.{1,4000}), function (?P<function>[^,]{1,400}), file (?P<file>[^\s,]{1,1000})$")
_CHECKS = ("] Check failed: ", "] Non-OK-status: ")
_CHECK = regex(
    r"^F\d{4} [\d:.]{8,18}\s{1,8}\d{1,9} (?P<file>[^\s:\]]{1,1000}):(?P<line>\d{1,7})\] "
    r"(?:Check failed: |(?=Non-OK-status: ))(?P<expression>.{1,4000})"
)
# The file and line above an assertion that was wrapped before its function; there the last colon may be missing.
_PLACE = regex(r"(?:^|\s)\S{1,400}\.(?:cpp|cc|cxx|h|hpp|inc):(?:\d{1,7}(?::\s|:?$)|$)")
# Only the function.
_FUNCTION = regex(r"(?:^|\s)(?P<function>(?:[\w~<>]{1,200}::){1,8}[\w~<>]{1,200}\(.{0,400}\)(?: const)?):?$")
# A template's, with the types that it has here.
_MOST_OF_TEMPLATE = 2000
_TEMPLATE = regex(
    r"(?P<function>(?:[\w:<>,&*~]{1,400} ){0,4}[\w:<>,&*~]{1,400}(?:operator\W{1,3})?"
    r"\([^()]{0,400}\)(?: const)? \[(?:with )?\w{1,40} = .{1,2000}\]):?$"
)
# A file without a line number, as users abbreviate it.
_FILE = regex(
    r"(?:^|\s)(?P<file>\S{1,400}\.(?:cpp|cc|cxx|h|hpp|inc)):\s{1,8}(?P<function>[\w:~<>]{1,400}\(.{0,400}\)):$"
)
_BROKEN = regex(r"(?:[a-z]{0,8}(?<!Assertion) ?|[`'])[`'].{0,4000}' failed\.")
# The module is deleted after a pass gave up half-way: the error that it printed is the failure.
_TEARDOWN = regex(r"Cannot destroy a value that still has uses|operation destroyed but still has uses")
# The end of an assertion, cut off in its last word.
_CUT_END = regex(r"' f(?:a(?:i(?:le?)?)?)?$")
_BEGINS = ("Assertion `", "Assertion '")
# The end of a line that was wrapped before the expression.
_SPLIT = "): Assertion"
# The arguments of the reporting function, each optionally with its value on entry and its address.
_ARGUMENTS = regex(
    r"\b(?P<name>assertion|assert|expr|file|line|function|func)=(?:\w{1,20}@entry=)?(?:0x[0-9a-f]{1,16} )?"
    r"(?:\"(?P<text>(?:[^\"\\]|\\.){0,4000})\"|(?P<number>\d{1,7}))"
)
_UNESCAPED = regex(r"\\([\"'\\])")
_REPORTER = "__assert_"
_NEXT_FRAME = regex(r"\s{0,16}(?:(?:\* )?frame )?#\d|\s{0,16}$|\(gdb\)|```")
#: Maximum number of lines that a debugger prints for one frame.
_MOST_OF_FRAME = 8
#: Maximum number of lines of an expression that was wrapped when it was pasted.
_MAX_WRAPPED = 8


@dataclass(frozen=True, slots=True)
class Assertion:
    """The parts of an assertion's text. ``pretty`` is the function as the compiler spelled it."""

    expression: str
    pretty: str | None = None
    file: str | None = None
    line: int | None = None

    @property
    def reason(self) -> str | None:
        """The author's explanation in the expression: its strings, joined as C joins them."""
        return "".join(_QUOTED.findall(self.expression)).strip() or None


def _glibc(line: str, opening: str, closing: str = "'") -> Assertion | None:
    head, _, rest = " ".join(line.split()).partition(f"ssertion {opening}")
    head = head[:-1]
    end = rest.rfind(f"{closing} failed")
    if end < 0 and (cut := _CUT_END.search(rest)):
        end = cut.start()
    expression = " ".join(rest[: end if end >= 0 else None].split())
    line_number = _LINE.search(head)
    if line_number is None:
        if end >= 0 and (named := _FILE.search(head.rstrip())):
            return Assertion(expression, named["function"], text.last_component(named["file"]))
        # Without a file or an end it is prose, not a program's output.
        head = head.strip()
        named = _TEMPLATE.search(head[-_MOST_OF_TEMPLATE:]) if head.endswith(("]", "]:")) else _FUNCTION.search(head)
        return Assertion(expression, named["function"] if named else None) if end >= 0 else None
    file = head[: line_number.start()].rpartition(" ")[2]
    pretty = head[line_number.end() :].strip().removesuffix(":") or None
    return Assertion(expression, pretty, text.last_component(file) or None, int(line_number.group(1)))


def _libcxx(line: str) -> Assertion | None:
    head, _, rest = line.replace(": libc++ Hardening assertion ", ": assertion ").partition(": assertion ")
    expression, failed, _ = rest.partition(" failed")
    file, _, number = head.rpartition(":")
    if not failed or not number.isdecimal():
        return None
    return Assertion(expression, None, text.last_component(file.rpartition(" ")[2]), int(number[:7]))


def _checked(line: str) -> Assertion | None:
    """abseil's and glog's."""
    match = _CHECK.search(line)
    if match is None:
        return None
    return Assertion(match["expression"].rstrip(), None, text.last_component(match["file"]), int(match["line"]))


def _stated(line: str) -> Assertion | None:
    """BSD's and MSVC's, ``expression[, function f], file F, line N``, and musl's."""
    if musl := _MUSL.match(line, line.find("Assertion failed: ")):
        file = text.last_component(musl["file"])
        return Assertion(musl["expression"], musl["function"], file, int(musl["line"]))
    shown = line.partition("Assertion failed: ")[2].rstrip(" .*")
    if cut := _WITHOUT_LINE.match(shown):
        expression = cut["expression"].removeprefix("(").removesuffix(")")
        return Assertion(expression, cut["function"], text.last_component(cut["file"]))
    rest, _, number = shown.rpartition(", line ")
    rest, _, file = rest.rpartition(", file ")
    if not rest or not number.isdecimal():
        return None
    expression, has_function, function = rest.rpartition(", function ")
    if not has_function:
        return Assertion(rest, None, text.last_component(file), int(number[:7]))
    expression = expression.removeprefix("(").removesuffix(")")
    return Assertion(expression, function, text.last_component(file), int(number[:7]))


def _of_debugger(line: str) -> Assertion | None:
    """The arguments of the frame that reports it, as gdb and lldb print them."""
    stated = {part["name"]: part["text"] or part["number"] for part in _ARGUMENTS.finditer(line) if part.group()}
    expression = stated.get("assertion") or stated.get("assert") or stated.get("expr")
    if not expression or not (stated.get("line") or "0").isdecimal():
        return None
    pretty, number = stated.get("function") or stated.get("func"), stated.get("line")
    file = text.last_component(stated.get("file") or "") or None
    return Assertion(_UNESCAPED.sub(r"\1", expression), pretty, file, int(number) if number else None)


def parse(line: str) -> Assertion | None:
    """The assertion in a line, if there is one."""
    line = _MISSPELT.sub(": Assertion ", line)
    if _REPORTER in line and (reported := _of_debugger(line)):
        return reported
    if "ssertion `" in line:
        return _glibc(line, "`")
    if "ssertion '" in line:
        return _glibc(line, "'")
    if 'Assertion "' in line and '" failed' in line:
        return _glibc(line, '"', '"')  # as users requote it
    if ": Assertion " in line and "' failed" in line:
        return _glibc(line, "")  # Markdown takes a backtick for the beginning of code
    if _UNQUOTED.search(line):
        return _glibc(line.replace("`", ""), "", "")
    if "Assertion failed: " in line:
        return _stated(line)
    if stated := next(filter(None, (form.search(line) for form in _LABELLED)), None):
        file = text.last_component(stated["file"])
        return Assertion(stated["expression"].strip(), stated["function"] or None, file, int(stated["line"]))
    if any(check in line for check in _CHECKS):
        return _checked(line)
    if ": assertion " in line or ": libc++ Hardening assertion " in line:
        return _libcxx(line)
    return None


def _unwrapped(window: Window) -> str:
    """The line joined with those after it to the end of the assertion, or with the one before it where a terminal split
    the word itself: ``Asse``, ``rtion `x' failed.``"""
    line = window.line
    if _REPORTER in line:
        rest = takewhile(lambda below: not _NEXT_FRAME.match(below), islice(window.after, _MOST_OF_FRAME))
        return " ".join([line.rstrip(), *map(str.strip, rest)])
    if line.strip() == _WINDOW:
        shown = [below.strip() for below in islice(window.after, _LINES_OF_WINDOW) if below.strip()]
        last = next((index for index, below in enumerate(shown) if below.startswith("Expression: ")), -1)
        return " ".join([_WINDOW, *shown[: last + 1]])
    if _BROKEN.match(line) and window.before:
        return window.before[-1].rstrip() + line
    is_split = line.rstrip().endswith(_SPLIT) and bool(window.after) and window.after[0].strip().startswith(("`", "'"))
    if "Assertion `" not in line and "Assertion '" not in line and not is_split:
        return line
    line = whole = _with_place(window, line).rstrip()
    for index in range(min(_MAX_WRAPPED, len(window.after))):
        if "' failed" in whole or any(mark in window.after[index] for mark in _BEGINS):
            break  # another assertion begins
        whole = f"{whole} {window.after[index].strip()}"
    return whole if "' failed" in whole else line


def _with_place(window: Window, line: str) -> str:
    """The line, prefixed with those above it that have the file and line number if it lacks them."""
    if _LINE.search(line.partition("Assertion ")[0]):
        return line
    for distance in range(1, min(_MAX_WRAPPED // 2, len(window.before)) + 1):
        above = window.before[-distance]
        if not above.strip() or " error: " in above:
            break
        if _PLACE.search(above):
            location, *rest = (window.before[-index].strip() for index in range(distance, 0, -1))
            return " ".join([f"{location}:" if location[-1].isdigit() else location, *rest, line.strip()])
    return line


def _is_error(line: str) -> bool:
    diagnostic = diagnostic_lines.parse(line)
    return diagnostic is not None and diagnostic.severity == "error"


def _read(window: Window) -> Finding | None:
    line = _unwrapped(window).strip()
    assertion = parse(line)
    if assertion is None:
        return None
    function = function_name(assertion.pretty) if assertion.pretty else None
    earlier = error_before(window)
    reason = assertion.reason or (earlier.text if earlier else None) or assertion.expression
    where = f" in {function}" if function else f" in {assertion.file}" if assertion.file else ""
    return finding(
        window,
        Kind.ASSERTION,
        f"Assertion failed{where}: {reason}",
        f"error: {earlier.text}\n{line}" if earlier else line,
        Specificity.TAIL if _TEARDOWN.search(line) and any(map(_is_error, window.before)) else Specificity.FATAL,
        locations=earlier.locations if earlier else (),
        # A verifier prints its error, and then an assertion fails because the verification did.
        notes=[earlier.text] if earlier else [],
        function=function,
        file=assertion.file,
        line=assertion.line,
    )


def bound_type(line: str, parameter: str) -> str | None:
    """The class that a template parameter of the asserting function is bound to, without its namespaces."""
    assertion = parse(line)
    bound = template_bindings(assertion.pretty).get(parameter) if assertion and assertion.pretty else None
    if bound is None:
        return None
    innermost = bound.rstrip("> ").rpartition("<")[2]
    return innermost.rpartition("::")[2].strip(" &*") or None


RECOGNISER = Recogniser(
    anchors=(
        "ssertion `",
        ": Ass",
        "ssertion '",
        "Assertion failed: ",
        ": assertion ",
        "ardening assertion ",
        "' failed.",
        _SPLIT,
        *_CHECKS,
        "assert.h assertion failed at ",
        'assertion "',
        _WINDOW,
        _REPORTER,
    ),
    read=_read,
    examples=dict.fromkeys(
        (
            'python: /b/Dialect.cpp:12: int A::f(int) const: Assertion `x >= 1 && "why"\' failed.',
            "/usr/include/c++/13/bits/stl_vector.h:1130: int &v::f(): Assertion '__n < this->size()' failed.",
            "/usr/include/c++/v1/vector:1393: assertion __n < size() failed: vector[] index out of bounds",
            "Assertion failed: (x >= 1), function f, file Dialect.cpp, line 12.",
            "Assertion failed: x >= 1, file D:\\b\\Dialect.cpp, line 12",
            "Assertion failed: x >= 1 (/b/Dialect.cpp: f: 12)",
            "/c++/v1/vector:1393: libc++ Hardening assertion __n < size() failed: out of bounds",
            "F0728 05:37:45.123456 4242 Dialect.cpp:12] Check failed: x >= 1 (0 vs. 1) why",
            "F1030 15:35:52.295284     614 autotuner.cc:1041] Non-OK-status: executable.status()",
            "python: /b/Dialect.cpp:12: int mlir::A::f(int) const: Asse\nrtion `x >= 1' failed.   ",
            "Assertion `getTotalOutDimSize() ==\n  product(dims)' failed.",
            "python: /b/Dialect.cpp:12:\nint mlir::A::f(\nint) const: Assertion `x >= 1' failed.",
            "python: /b/Dialect.cpp:12:\n  mlir::A::f(int): Assertion\n  `(x >= 1 &&\n   y)'\n  failed.",
            "the pass triggers assertion `x >= 1' failed.",
            'A.cpp:12: int A::f(int): Assertion "x >= 1" failed.',
            "F1112 19:18:49.659 52 a.cc:62] assert.h assertion failed at triton/A.cpp:9 in int A::f(B &): x >= 1",
            "// CHECK: Assertion failed: (x >= 1), function f, file Dialect.cpp",
            'assertion "x >= 1" failed: file "/b/Dialect.cpp", line 12, function: mlir::A::f',
            'Assertion failed!\n\nProgram: C:\\python.exe\nFile: D:\\b\\A.cpp\nLine: 12\n\nExpression: x >= 1 && "why"',
            "/b/A.cpp:12: int A::f(int): Assetrion `x >= 1' faild",
            '#5 0x00007f in __assert_fail (assertion=0x7f12 "x >= 1", \n    file=0x7f13 "/b/Dialect.cpp", line=12)',
        ),
        Kind.ASSERTION,
    ),
    most=Specificity.FATAL,
)
