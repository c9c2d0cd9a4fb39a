"""Frames of native stacks, as signal handlers, debuggers and libraries print them.

Each format is one entry of ``_FORMATS``, with an example; a new one is one more entry there. LLVM's own handler, gdb,
lldb and sanitizers put an address between the number and the function.
"""

from collections.abc import Sequence
from itertools import islice

from triage.logs.patterns import regex

_HEX = r"0x[0-9a-fA-F]{4,16}"
_OFFSET = r"\+ ?0x[0-9a-fA-F]{1,16}"
# A name in a namespace, with its arguments or without; the copies and the results of templates may have blanks.
_SCOPED = r"(?:[\w~<>*&, ]{1,400}[ *&])?(?:\(anonymous namespace\)::)?[A-Za-z_][\w~<>]{0,400}::\S.{0,4000}?"
_ANY = r"\S.{0,4000}?"
_AT = r"(?P<file>(?:[A-Za-z]:)?[^\s()\[\]@]{1,1000}?\.\w{1,8})"

#: A frame, and the pattern: the function, and where the format has it the file and the line.
_FORMATS: tuple[tuple[str, str], ...] = (
    (
        "/v/libtriton.so(mlir::A::f()+0x1f) [0x7f1234567890]",
        rf"[^\s(]{{1,400}}\((?P<function>{_ANY}){_OFFSET}\) ?\[{_HEX}\]$",
    ),
    (
        "frame #3: mlir::A::f() + 0x1f (0x7f1234567890 in /v/libtriton.so)",
        rf"frame #\d{{1,3}}: (?P<function>{_ANY}) {_OFFSET} \({_HEX} in \S{{1,400}}\)$",
    ),
    ("1# mlir::A::f() in /v/libtriton.so", rf"\d{{1,3}}# (?P<function>{_SCOPED}) in (?:/|[A-Za-z]:)\S{{1,400}}$"),
    ("1# mlir::A::f() at /b/A.cpp:12", rf"\d{{1,3}}# (?P<function>{_SCOPED}) at {_AT}:(?P<line>\d{{1,7}})$"),
    (
        "libtriton!mlir::A::f+0x1f [C:\\b\\A.cpp @ 12]",
        r"(?:[0-9a-f]{2} (?:[0-9a-f]{8}`[0-9a-f]{8} ){2}\s{0,8})?[\w.]{1,60}!"
        rf"(?P<function>{_SCOPED}){_OFFSET}(?: \[{_AT} @ (?P<line>\d{{1,7}})\])?$",
    ),
    (
        "libtriton.so!mlir::A::f(int) (/b/A.cpp:12)",
        rf"(?:[\w.+-]{{1,100}}!)?(?P<function>{_SCOPED}) \({_AT}:(?P<line>\d{{1,7}})\)$",
    ),
    (
        "mlir::A::f (libtriton.so)",
        rf"(?P<function>{_SCOPED}) \(\w[\w.+-]{{1,100}}\.(?:so[\w.]{{0,20}}|pyd|dll|dylib)\)$",
    ),
    ("PC: @     0x7f12 mlir::A::f()", rf"(?:PC: )?@\s{{1,12}}{_HEX} (?P<function>{_SCOPED})$"),
    (
        "7f1234567890 mlir::A::f()+0x1f (/v/libtriton.so)",
        rf"[0-9a-f]{{8,16}} (?P<function>{_ANY}){_OFFSET} \(\S{{1,400}}\)$",
    ),
    (
        "==1== by 0x4C2F: mlir::A::f() (A.cpp:12)",
        rf"==\d{{1,9}}==\s{{1,8}}(?:at|by) {_HEX}: (?P<function>{_ANY})"
        rf" \((?:in \S{{1,400}}|{_AT}:(?P<line>\d{{1,7}}))\)$",
    ),
)
#: What is a frame only among others.
_AMONG_OTHERS: tuple[tuple[str, str], ...] = (
    ("3: mlir::A::f() A.cpp:12", rf"\d{{1,3}}[.:] (?P<function>{_SCOPED})(?: {_AT}:(?P<line>\d{{1,7}}))?$"),
    ("mlir::A::f(int) const", rf"(?P<function>{_SCOPED}\)(?: const)?)$"),
)
_FRAMES = tuple(
    (regex(rf"\s{{0,16}}(?:{pattern})"), is_certain)
    for formats, is_certain in ((_FORMATS, True), (_AMONG_OTHERS, False))
    for _, pattern in formats
)
EXAMPLES = tuple(example for example, _ in (*_FORMATS, *_AMONG_OTHERS))
_FEWEST = 3
"""Lines without an address that are a stack."""
_MOST = 2_000


def shown_frame(line: str) -> tuple[str, bool] | None:
    """What a frame shows, ``function file:line``, and whether its format tells that it is one; None for other lines."""
    if "::" not in line and "+0x" not in line:
        return None
    for pattern, is_certain in _FRAMES:
        if frame := pattern.match(line.rstrip()):
            parts = frame.groupdict()
            at = f" {parts['file']}:{parts['line']}" if parts.get("line") else ""
            return f"{parts['function']}{at}", is_certain
    return None


def first_stack(lines: Sequence[str]) -> list[str]:
    """What the frames of the first stack show; lines between them that are no frames do not end it."""
    frames: list[str] = []
    certain = missed = 0
    for line in islice(lines, _MOST):
        frame = shown_frame(line)
        if frame is None:
            missed += 1
            # A line of source, a file below its function, a frame without a name.
            if missed > 1 and frames:
                if certain > 1 or len(frames) >= _FEWEST:
                    return frames
                frames, certain = [], 0
            continue
        missed = 0
        frames.append(frame[0])
        certain += frame[1]
    return frames if certain > 1 or len(frames) >= _FEWEST else []
