"""What surrounds the compiler keeps it from working: nothing is wrong with the kernel.

The host compiler, its headers or libraries that build Triton's launcher; libtriton or a release of Triton that does not
fit; no driver, or a GPU that is too old; the cache that several processes share; Inductor's worker processes; ROCm's
linker.

gcc:   ``/tmp/tmpabc123/main.c:5:10: fatal error: Python.h: No such file or directory``
clang: ``fatal error: 'Python.h' file not found``
tcc:   ``C:/…/cuda_utils.c:13: error: include file 'Python.h' not found``
MSVC:  ``cuda_utils.c(12): fatal error C1083: Cannot open include file: 'Python.h': No such file or directory``
"""

import re
from itertools import chain, islice, takewhile
from typing import Any

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.other_programs import is_sentence
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.recognisers.frontend import unrepr
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_HOST = r"(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|clang-cl|icpx|icx|tcc|cl)(?:-\d{1,3})?(?:\.(?:exe|EXE))?"
_QUOTE = "['\"`]"
#: What a line says, as the headline with what is missing: the first group of the pattern that is not empty. Each with
#: parts of which a line has one.
_MISSING: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "The host compiler does not find {}",
        ("No such file", "not found"),
        regex(
            rf"(?:fatal error ?C1083: .{{0,120}}?|error: |error: include file ){_QUOTE}?"
            rf"([\w./-]{{1,120}}\.h(?:pp)?)(?:{_QUOTE}|[:, ]).{{0,20}}(?:No such file|not found)"
        ),
    ),
    (
        "The linker does not find {}",
        ("annot find -l", "library", "LNK1"),
        regex(
            r"(?:[Cc]annot find |unable to find library |library not found for )"
            r"(-l(?::lib)?(?:cuda(?!rt|dev)|python|amdhip|hip)[\w.]{0,40})"
            r"|error: library '([\w.]{1,60})' not found"
            rf"|LNK1\d{{3}}: .{{0,60}}?{_QUOTE}?((?:cuda(?!rt|dev)|python)\w{{0,20}}\.lib)"
        ),
    ),
    (
        "The host compiler cannot run {}",
        ("exec",),
        regex(
            rf"(?:could not exec |cannot execute {_QUOTE}|error trying to exec {_QUOTE})"
            r"(?:[^\s'\"`]{1,300}[/\\])?((?:cc1|collect2|ld|as|clang)[\w.+-]{0,30})"
        ),
    ),
)
#: What the line itself says best, most often the last one of a traceback.
_STATED = regex(
    r"Failed to find C(?:\+\+)? compiler"
    r"|DLL load failed while importing (?:libtriton|cuda_utils|hip_utils|__triton_launcher)"
    r"|Cannot find ptxas|Triton only supports? CUDA \d"
    rf"|(?:GLIBC|GLIBCXX|CXXABI)_[\d.]{{1,12}}{_QUOTE}? not found \(required by [^)]{{0,300}}triton"
    r"|(?:triton[/\\]_C[/\\]libtriton|(?<!\w)(?:cuda_utils|hip_utils|__triton_launcher))[\w.-]{0,60}: "
    r"(?:undefined symbol|cannot |ELF |failed to map|invalid|file too short)"
    r"|cannot import name '\w{1,80}' from (?:partially initialized module )?'triton(?:_kernels)?\b"
    r"|No module named ['\"`]?triton(?:_kernels)?\b(?!client|server)"
    r"|Cannot find a working triton installation|\bTritonMissing\b"
    r"|too old to be supported by the triton GPU compiler|\bGPUTooOldForTriton\b"
    r"|\b0 active driver(?:s|\(s\))"
    r"|create a symlink of libcuda\.so"
    r"|No such file or directory: '/sbin/ldconfig'|Command '\['(?:/sbin/)?ldconfig', '-p'\]'"
    r"|libcuda\.so cannot found|Failed to open libcuda|Could not find libcuda|cannot locate libamdhip64"
    r"|libcuda\.so\.1: (?:cannot open shared object|file too short)"
    r"|Could not create or locate cache dir"
    # A vendor's compiler that is older than the GPU.
    r"|Cannot find option named 'Ascend"
    r"|\[(?:Errno|WinError) \d{1,5}\].{0,200}"
    r"(?:[/\\]\.triton\b|triton_cache|torchinductor_|[/\\]triton[/\\][0-9a-f]{32})"
    r"|\bdf: \S{0,300}/\.triton/autotune: No such file"
    r"|(?:Stale file handle|resource busy).{0,200}[/\\]\.triton\b"
    r"|(?:ROCm|ROCM|rocm) linker .{0,200}not found|ld\.lld.{0,60}(?: not found|: No such file)",
)
# The loader's, of a library whose user is not told, and as people retype it.
_LIBC = regex(rf"\b(?:GLIBC|GLIBCXX|CXXABI)[_ -]\d[\d.]{{0,12}}{_QUOTE}? (?:is |was )?not found(?! \(required by)")
# A file that Windows does not find, and its path in quotation marks, as `repr` shows it or as it is.
_NOT_FOUND = regex(r"\[(?:Errno 2|WinError (?:2|3|206))\].{0,200}?'(?P<path>[A-Za-z]:\\[^']{200,4000})'")
_LONGEST_PATH = 259
"""Characters, unless long paths are enabled. Source: Microsoft, Maximum Path Length Limitation."""
# Of a program.
_SOURCE = regex(r"#include|//|from |import [\w.]+(?:[\s,;]|$)")
_NO_COMPILER = regex(rf"\[(?:Errno 2|WinError 2)\].{{0,80}}: '(?:[^']{{0,200}}[/\\])?{_HOST}'")
# Windows does not say which file: in what builds the launcher it is the compiler.
_NO_FILE = regex(r"^FileNotFoundError: \[WinError 2\]")
_BUILDS = regex(
    r"triton[/\\]runtime[/\\]build\.py|\bcompile_module_from_src\b|\b_?cc_cmd|\bret = _?build\(|, in _build\b"
)
_LOADED = regex(r"(?<![\w/.])libcuda\.so\.1: cannot open shared object")
_DRIVER = regex(r"Found no NVIDIA driver on your system|No HIP GPUs are available|no ROCm-capable device")
#: Inductor compiles in worker processes; what ended one is in its own output.
_WORKER = regex(
    r"\bBrokenProcessPool\b|\bSubprocException\b|process pool (?:was terminated abruptly|is not usable)"
    r"|SubprocPool unclean exit|process in the process pool was terminated"
)
_CALLED = regex(
    rf"Command '\[?['\"]?(?:[^'\",]{{0,300}}[/\\])?(?:[\w.+-]{{1,60}}-)?{_HOST}['\" ,]"
    r".{0,8000}?(?:returned non-zero exit status (?P<code>-?\d{1,12})|died with)"
)
# A line of source, as a notebook's traceback shows it: `     29         msg += 'Please create …'`.
_NUMBERED = regex(r"(?:-{2,4}> ?)?\d{1,6} {2,80}\S")
_CALLED_BY_PYTHON = regex(r"CalledProcessError\s{2,80}Traceback \(most recent call last\)")
# What Triton for Windows prints before a CalledProcessError.
_NOT_COMPILED = regex(r"Failed to compile\. cc_cmd: ?")
# Cut off before the exit status.
_CUT = regex(
    rf"\bCommand '\[['\"](?:[^'\",]{{0,300}}[/\\])?(?:[\w.+-]{{1,60}}-)?{_HOST}['\"],"
    r"(?!.{0,8000}(?:exit status|died with))"
)
# The program that runs the compiler and the linker, of a step that failed: what it says of Triton's launcher.
_DRIVER_SAYS = regex(
    rf"^(?:\S{{0,300}}[/\\])?(?:[\w.+-]{{1,60}}-)?(?:(?:{_HOST}|collect2(?:\.exe)?|LINK) ?: "
    r"(?:fatal |Command line )?error(?: [A-Z]{1,5}\d{4})? ?: |ld(?:\.\w{2,8})?: (?!warning|in function))"
    r"(?P<text>\S.{0,300})"
)
# GNU's assembler, above what it says.
_ASSEMBLER = "Assembler messages:"
# Of a message that a terminal or the compiler itself wrapped; clang indents its second line. Lines of source that it
# shows and the next message are none.
_CONTINUES = regex(r"\s{0,8}(?![\s|^~]|\d{1,7} \||In file included)(?!.{0,400}: (?:error|warning|note|fatal error))")
_EXCEPTION = regex(r"^(?:[A-Za-z_]\w{0,80}\.){0,12}(?P<name>[A-Z]\w{0,80}): ?")
# A frame and the exception below it, in a line that somebody joined.
_JOINED = regex(r"\", line \d{1,7}, in .{1,400}?\s(?=(?:[a-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|Exception): \S)")
# The folder that Triton makes for its cache may be a parent of it, without a name that tells.
_MAKES_CACHE = regex(r"triton[/\\]runtime[/\\]cache\.py\b")
_REFUSED_FOLDER = regex(r"^(?P<exception>\w{1,40}Error): \[Errno (?:13|20|28|30|122)\]")
# The folder of a cache in the path of a file that cannot be used.
_CACHE = regex(
    r"(?P<mark>['\"])[^'\"\s]{0,300}?[/\\]{1,2}(?P<rest>(?:\.triton|triton|[\w.]{0,40}cache|torchinductor_\w{1,60})[/\\])"
)
#: Files that Triton and Inductor write for the host compiler.
_LAUNCHER = regex(r"(?:__triton_launcher|cuda_utils|hip_utils|launcher|[/\\]tmp\w{6,12}[/\\]{1,2}main)\.c(?:pp)?\b")
# gcc's and clang's `main.c:5:10: error: text`, MSVC's `__triton_launcher.c(123): error C2059: text`; of headers too.
_AT = regex(r"(?P<file>(?:[A-Za-z]:)?[^:(]{1,400}\.(?:c|h)(?:pp)?)[:(](?P<line>\d{1,7})\b")
# A source that is neither in a folder of Python's tempfile, as the launcher is, nor a header that is installed.
_SOURCE_FILE = regex(
    r"(?<!\S)(?:[A-Za-z]:)?(?!\S{0,300}(?:[/\\]tmp\w{6,12}[/\\]|[/\\][Ii]nclude[/\\]|triton|torchinductor))"
    r"[^:(\s]{0,300}[/\\][^:(/\\\s]{1,100}\.(?:c|cc|cpp|cxx|cu|h|hh|hpp|cuh)[:(]\d"
)
_INCLUDING = regex(r"(?:In file included|\s{1,40}) ?from ")
_REFUSED = regex(r"[:)] (?:fatal )?error(?: C\d{4})?: (?P<text>\S.{0,300})")


#: The headline where the compiler's own words are missing.
UNEXPLAINED = "the host compiler failed; what it printed says why"
_NEAR = 12
"""Lines after an exception that may say what it was raised by; those before are the window's."""


def is_tritons(line: str) -> bool:
    """True for a line that is of Triton's surroundings and nobody else's."""
    return _LAUNCHER.search(line) is not None or _STATED.search(line) is not None


def builds_launcher(line: str) -> bool:
    """True for a frame or a line of the source that runs the host compiler for Triton."""
    return _BUILDS.search(line) is not None


def is_of_a_source(line: str) -> bool:
    """True for an error at a line of C or C++ that somebody wrote; the launcher is written to a folder of its own."""
    return _SOURCE_FILE.search(line) is not None


def is_of_any_program(message: str) -> bool:
    """True for what the loader says of any program that uses the driver's library."""
    return _LOADED.search(message) is not None


def is_of_driver(message: str) -> bool:
    """True for what torch says of any program where there is no driver or GPU."""
    return _DRIVER.search(message) is not None


def called_by_python(line: str) -> bool:
    """True for the head of a traceback, as notebooks print it, of Python that ran a command itself, as Triton does."""
    return _CALLED_BY_PYTHON.match(line) is not None


def _place(line: str) -> dict[str, Any]:
    """The file that was compiled and the line in it, as fields of a diagnosis."""
    at = _AT.match(line)
    return {"file": text.last_component(at["file"]), "line": int(at["line"])} if at else {}


def _missing(window: Window, line: str, exception: str | None, extent: int = 0) -> Finding | None:
    """What the compiler or the linker does not find, by a message in ``extent`` more lines than the window's."""
    for clause, parts, pattern in _MISSING:
        if any(part in line for part in parts) and (match := pattern.search(line)):
            name = next(filter(None, match.groups()))
            facts = {"exception": exception, **_place(line)}
            return finding(window, Kind.ENVIRONMENT, clause.format(name), line, extent=extent, **facts)
    return None


def _wrapped(window: Window, line: str) -> Finding | None:
    """The same of a message that ends in the next line."""
    following = window.after[0] if window.after else ""
    if "error" not in line or not _CONTINUES.match(following):
        return None
    rest = following.strip()
    return _missing(window, f"{line} {rest}", None, extent=1) or _missing(window, line + rest, None, extent=1)


def _path_length(path: str) -> int:
    return len(path.replace("\\\\", "\\"))


def _is_included(window: Window) -> bool:
    """True for a line below the list of the files that include its own, from Triton's launcher on."""
    including = takewhile(_INCLUDING.match, reversed(window.before))
    return any(map(_LAUNCHER.search, including))


def _is_near_launcher(window: Window) -> bool:
    return any(map(_LAUNCHER.search, chain(window.before, islice(window.after, _NEAR))))


def _read(window: Window) -> Finding | None:
    line = unrepr(window.line.strip())
    if _SOURCE.match(line) or _NUMBERED.match(line):
        return None
    if joined := _JOINED.search(line):
        line = line[joined.end() :]
    stated = _EXCEPTION.match(line)
    exception = stated["name"] if stated and not stated["name"].isupper() else None
    if missing := _missing(window, line, exception) or _wrapped(window, line):
        return missing
    is_launchers = _LAUNCHER.search(line) or _is_included(window)
    if is_launchers and (refused := _REFUSED.search(line)):
        headline = f"The host compiler refuses Triton's launcher: {refused['text']}"
        return finding(window, Kind.ENVIRONMENT, headline, line, **_place(line))
    if line.endswith(_ASSEMBLER) and (says_below := next(iter(window.after), "").strip()):
        headline = f"The host compiler failed: its assembler says: {says_below}"
        return finding(window, Kind.ENVIRONMENT, headline, f"{line}\n{says_below}", Specificity.SYMPTOM, extent=1)
    if _WORKER.search(line):
        return finding(window, Kind.ENVIRONMENT, line, line, Specificity.TAIL, exception=exception or "Exception")
    if (says := _DRIVER_SAYS.match(line)) and _is_near_launcher(window):
        headline = f"The host compiler failed: {says['text']}"
        return finding(window, Kind.ENVIRONMENT, headline, line, Specificity.SYMPTOM)
    if (called := _CALLED.search(line)) and (exception or _LAUNCHER.search(line)):
        code = f" with exit status {called['code']}" if called["code"] else ""
        headline = f"CalledProcessError: the host compiler failed{code}; what it printed says why"
        return finding(window, Kind.ENVIRONMENT, headline, line, Specificity.SYMPTOM, exception="CalledProcessError")
    if _NOT_COMPILED.search(line):
        headline = UNEXPLAINED.capitalize()
        return finding(window, Kind.ENVIRONMENT, headline, line, Specificity.SYMPTOM)
    if _CUT.search(line) and (_LAUNCHER.search(line) or any(map(builds_launcher, window.before))):
        headline = f"CalledProcessError: {UNEXPLAINED}"
        return finding(window, Kind.ENVIRONMENT, headline, line, Specificity.SYMPTOM, exception="CalledProcessError")
    if _NO_FILE.match(line) and any(map(builds_launcher, chain(window.before, islice(window.after, _NEAR)))):
        headline = f"The host compiler was not found: {line}"
        return finding(window, Kind.ENVIRONMENT, headline, line, exception="FileNotFoundError")
    if (not_found := _NOT_FOUND.search(line)) and (length := _path_length(not_found["path"])) > _LONGEST_PATH:
        headline = f"The path has {length} characters, and Windows finds none of more than {_LONGEST_PATH}"
        return finding(window, Kind.ENVIRONMENT, headline, line, exception="FileNotFoundError")
    if (libc := _LIBC.search(line)) and is_sentence(line):
        return finding(window, Kind.ENVIRONMENT, libc.group(), line, Specificity.SYMPTOM)
    if (refused := _REFUSED_FOLDER.match(line)) and any(map(_MAKES_CACHE.search, window.before)):
        headline = f"Triton's cache cannot be used: {line}"
        return finding(window, Kind.ENVIRONMENT, headline, line, exception=refused["exception"])
    if libc or _STATED.search(line) or (exception and (_DRIVER.search(line) or _NO_COMPILER.search(line))):
        shown = _CACHE.sub(r"\g<mark>\g<rest>", line)
        return finding(window, Kind.ENVIRONMENT, shown, line, exception=exception)
    return None


RECOGNISER = Recogniser(
    anchors=(
        "fatal error",
        "file not found",
        "include file ",
        "annot find -l",
        " library -l",
        "error: library ",
        "for -l",
        "LNK1",
        "could not exec",
        "cannot execute",
        "trying to exec",
        "Failed to find C",
        "[Errno ",
        "[WinError ",
        "Stale file",
        ".triton/autotune: ",
        "resource busy",
        "libtriton",
        "cuda_utils.",
        "hip_utils.",
        "triton_launcher.",
        "DLL load failed",
        "Cannot find ptxas",
        "Cannot find option named",
        "Triton only support",
        "Failed to compile. cc_cmd",
        "GLIBC",
        "CXXABI",
        "cannot import name",
        "No module named",
        "working triton",
        "TritonMissing",
        "too old to be",
        "TooOldForTriton",
        "active driver",
        "libcuda",
        "/ldconfig'",
        "libamdhip64",
        "cache dir",
        "NVIDIA driver",
        "No HIP GPUs",
        "ROCm-capable",
        "ProcessPool",
        "process pool",
        "SubprocException",
        "SubprocPool",
        "CalledProcessError",
        "returned non-zero",
        "_launcher.c",
        "_utils.c",
        ".h:",
        "main.c'",
        "/main.c",
        "\\main.c",
        "cc: error: ",
        "ng: error: ",
        "++: error: ",
        "ect2: error: ",
        _ASSEMBLER,
        "bin/ld: ",
        "Command line error",
        ".exe: error: ",
        " linker ",
        "ld.lld",
    ),
    read=_read,
    examples=dict.fromkeys(
        (
            "/tmp/tmpab12cd34/main.c:5:10: fatal error: Python.h: No such file or directory",
            "/tmp/tmpab12cd34/main.c:5:10: fatal error: 'Python.h' file not found",
            "C:/Temp/tmpab12cd34/cuda_utils.c:13: error: include file 'Python.h' not found",
            "C:\\Temp\\tmpab12cd34\\cuda_utils.c(12): fatal error C1083: …: Python.h: No such file or directory",
            "/usr/bin/ld: cannot find -lcuda: No such file or directory",
            "ld.lld: error: unable to find library -lcuda",
            "tcc: error: library 'cuda' not found",
            "LINK : fatal error LNK1104: cannot open file 'cuda.lib'",
            "C:\\Temp\\tmpab12cd34\\__triton_launcher.c(123): error C2059: syntax error: '}'",
            "could not exec /opt/llvm/bin/clang-23: No such file or directory",
            "gcc: fatal error: cannot execute 'cc1': execvp: No such file or directory",
            "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
            "FileNotFoundError: [Errno 2] No such file or directory: 'gcc'",
            "ImportError: DLL load failed while importing libtriton: a routine failed",
            "ImportError: DLL load failed while importing cuda_utils: a routine failed",
            "Failed to compile. cc_cmd: ['C:\\\\tcc.exe', 'C:\\\\Temp\\\\tmpab12cd34\\\\cuda_utils.c']",
            "/tmp/tmpab12cd34/main.c: Assembler messages:\nInternal error (Illegal instruction).\nReport this.",
            "RuntimeError: Cannot find ptxas",
            "RuntimeError: Triton only support CUDA 10.0 or higher, but got CUDA version: 12.8",
            "ImportError: /lib64/libm.so.6: version `GLIBC_2.29' not found (required by /x/triton/_C/libtriton.so)",
            "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' (/x/compiler.py)",
            "ModuleNotFoundError: No module named 'triton.ops'",
            "Failed to import Triton kernels. Error: No module named 'triton_kernels.routing'",
            "Command '['C:\\\\VC\\\\cl.EXE', 'C:\\\\Temp\\\\tmpab12cd34\\\\main.c']' returned non-zero exit status 2.",
            "torch._inductor.exc.TritonMissing: Cannot find a working triton installation.",
            "RuntimeError: Found A which is too old to be supported by the triton GPU compiler, which is the backend.",
            "RuntimeError: 0 active drivers ([]). There should only be one.",
            "AssertionError: libcuda.so cannot found!",
            "FileNotFoundError: [Errno 2] No such file or directory: '/sbin/ldconfig'",
            "CalledProcessError: Command '['ldconfig', '-p']' returned non-zero exit status 1.",
            "located at ['/lib64/libcuda.so.1'].Please create a symlink of libcuda.so to any of the file.",
            "FileNotFoundError: [Errno 2] No such file or directory: '/r/.triton/cache/ab/k.ttir.tmp.pid_1_2' -> '/r'",
            "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly",
            "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpab12cd34/main.c', '-O3']' "
            "returned non-zero exit status 1.",
            "Exception: ROCm linker /opt/rocm/llvm/bin/ld.lld not found. Set TRITON_HIP_LLD_PATH",
        ),
        Kind.ENVIRONMENT,
    ),
)
