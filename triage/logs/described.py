"""A failure that somebody describes in their own words, without quoting anything of it.

Only for a text about Triton in which no other failure is: a crash, a compile that does not end, a cache that cannot be
used.
"""

import re
from collections.abc import Iterable

from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.named_pass import named_pass
from triage.logs.patterns import regex
from triage.model.diagnosis import Kind

_CACHE = r"(?:\.triton\b|\b(?:triton|inductor)(?:'s)? (?:kernel )?cache|TRITON_CACHE_DIR)"
_UNUSABLE = (
    r"(?:FileNotFoundError|PermissionError|OSError|permission|denied|read-only|not writ[ae]+ble"
    r"|(?:cannot|can't|could not|unable to|fail\w{0,3} to) (?:access|write|create|open|find|read))"
)
_COMPILE = r"\b(?:compil(?:e[sd]?|ing|ation|er)|autotun(?:e[dr]?|ing)|ptxas|llc|make_(?:ttir|ttgir|llir|ptx|cubin))\b"
_NO_END = (
    r"(?:\bhangs?\b|\bhung\b|\bhanging\b|\bstuck\b|\bdeadlocks?\b|\bforever\b|\binfinite loop|\bnon-termination"
    r"|\bspin(?:s|ning)\b|\bblow[ -]?up\b|\bregress(?:ed|es|ion)\b.{0,40}?\d[\d.]{0,6} ?m?s\b.{0,20}?\d ?(?:s|min\w*)\b"
    r"|\btim(?:e[sd]?|ing)[ -]?outs?\b|\bfreez(?:es|ing)\b|\b(?:never|not) comes? back\b|\bindefinite(?:ly)?\b"
    r"|\b(?:more than|over) (?:an?|\d{1,4}\+?|several|many) (?:hours?|minutes)\b|\bfor (?:\S{1,9} )?hours\b"
    r"|\bnever (?:return|end|finish|complete|terminate)|\bd(?:oes|id)(?: not|n't) (?:return|end|finish|terminate))"
)
_CRASH = r"(?:\bseg(?:mentation)?[ -]?faults?\b|\bsegfault(?:ed|ing)\b|\bSIGSEGVs?\b)"
_KILLED = r"\bSIGKILL(?:s|ed)?\b"
_ON_DEVICE = (
    r"(?:\bmisaligned address|\billegal (?:memory access|address|instruction)|\bunspecified launch failure|\bIMA\b"
    r"|\bdevice-side assert|\bZE_RESULT_ERROR_\w)"
)
# The name of an error of the driver's, but for those of no device and no memory.
_CODE = regex(
    r"\b(?:cudaError(?!NoDevice|InsufficientDriver|MemoryAllocation)[A-Z]\w{3,60}|hipError(?!NoDevice|OutOfMemory)[A-Z]\w{3,60}"
    r"|CUDA_ERROR_(?!NO_DEVICE|OUT_OF_MEMORY|SYSTEM_)[A-Z_]{4,60})\b"
)
_FAILS = (
    r"(?:\bfail(?:s|ed|ing|ures?)?\b|\bcrash(?:es|ed|ing)?\b|\berrors?\b|\bbreaks\b|(?-i:\bICEs?\b)"
    r"|\binternal compiler error)"
)
_FAIL = regex(_FAILS, re.IGNORECASE)
_WHERE = r"(?:\btriton\b|\bMLIR\b|\bkernels?\b|\bcompil|\binductor\b|\bautotun|\btl\.|\bcute\.)"
# In the compiler's code; Python's assertions are exceptions.
_ASSERTS = regex(
    r"\b(?:hits?|triggers?|trips?|fails?(?: with| in| on)?|runs? into|crash(?:es)? (?:with|in|on)) (?:an? |the )?"
    r"(?:internal |compiler |LLVM |MLIR |C\+\+ )?assert(?:ion)?s?\b(?! ?error)",
    re.IGNORECASE,
)
_ASSERT_FAILS = regex(r"\bassert\(.{1,300}\)`? (?:fires|fails|trips|triggers|is hit|does not hold)\b")
# LLVM's functions that end the process.
_UNREACHABLE = regex(
    r"\bllvm_unreachable\b"
    r"|\b(?:hits?|reach(?:es|ed|ing)?|triggers?|runs? into) (?:an? |the )?(?:code marked )?`?unreachable\b"
)
_FATAL = regex(r"\breport_fatal_error\b")
_ASSEMBLER_ENDS = regex(r"\bptxas(?:\.exe)? (?:dies|crashe[sd]|crashing|segfaults|aborts|is killed|died|ICEs)\b")
_NO_HOST_MEMORY = regex(
    r"\bOOM[ -]killer\b|\b(?:out of|exhausts?|eats? (?:up )?all) (?:the )?(?:host|system) (?:memory|RAM)\b"
)
_NO_SHARED_MEMORY = regex(
    r"\b(?:more|too much|out of|exceed(?:s|ed|ing)?(?: the)?) (?:shared memory|smem|SMEM|LDS|tensor memory|TMEM)\b"
)
_NATIVE_ASSERTION = regex(
    r"\bassertion (?:failed|failure|fails|error) (?:in|at|inside) [^.]{0,80}(?:::|\.(?:cpp|cc|h)\b)", re.IGNORECASE
)
# The processor's own signals, which few programs raise: they need no word about a compiler.
_ABORTED = regex(r"\bSIG(?:FPE|ILL)\b")
_CRASHED = regex(rf"{_CRASH}.{{0,300}}{_WHERE}|{_WHERE}.{{0,300}}{_CRASH}", re.IGNORECASE)
_ENDLESS = regex(rf"{_COMPILE}.{{0,120}}{_NO_END}|{_NO_END}.{{0,100}}{_COMPILE}", re.IGNORECASE)
# In words that only MLIR's conversions and its verifier have.
_REFUSED = regex(
    r"(?:\bfail\w{0,4}|\bcannot|\bcan't|\bunable|\b(?:do(?:es)?|could)(?:n't| not)|无法|失败).{0,40}\blegali[sz]e"
    r"|\bMLIR(?:'s)? verif|\bSSA dominance|\bdominance (?:fail|error|violat)|\bverification (?:error|fail)",
    re.IGNORECASE,
)
# Of a kernel that runs: no kind of its own.
_HANGS = r"(?:\bhangs\b|\bhanging\b|\bdeadlocks?\b|\bfreezes\b|\bnever (?:returns|ends|finishes))"
# Compilers of C++, which build a package's own kernels, as what a sentence says to crash.
_OF_HOST = regex(
    rf"\b(?:nvcc|cicc|cudafe\+\+|hipcc|gcc|g\+\+|cc1plus|clang(?:\+\+)?)(?![\w+.-])\W{{0,4}}(?:\w{{1,12}} ){{0,2}}"
    rf"{_CRASH}",
    re.IGNORECASE,
)
#: What a sentence says, and the kind of failure; of several the first.
_SAYS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.SEGFAULT, _CRASHED),
    (Kind.ASSERTION, _ASSERTS),
    (Kind.ASSERTION, _ASSERT_FAILS),
    (Kind.UNREACHABLE, _UNREACHABLE),
    (Kind.LLVM_FATAL, _FATAL),
    (Kind.PTXAS, _ASSEMBLER_ENDS),
    (Kind.ABORT, _ABORTED),
    (Kind.KILLED, regex(rf"{_KILLED}.{{0,300}}{_WHERE}|{_WHERE}.{{0,300}}{_KILLED}", re.IGNORECASE)),
    (Kind.OUT_OF_MEMORY, regex(rf"{_COMPILE}.{{0,120}}(?:{_NO_HOST_MEMORY.pattern})", re.IGNORECASE)),
    (Kind.OUT_OF_RESOURCES, regex(rf"{_WHERE}.{{0,120}}(?:{_NO_SHARED_MEMORY.pattern})", re.IGNORECASE)),
    (Kind.ENVIRONMENT, regex(rf"{_UNUSABLE}.{{0,120}}{_CACHE}|{_CACHE}.{{0,120}}{_UNUSABLE}", re.IGNORECASE)),
    (Kind.LAUNCH_ERROR, regex(rf"{_ON_DEVICE}.{{0,300}}{_WHERE}|{_WHERE}.{{0,300}}{_ON_DEVICE}", re.IGNORECASE)),
    (Kind.LAUNCH_ERROR, _CODE),
    (Kind.TIMEOUT, _ENDLESS),
    (Kind.MLIR_DIAGNOSTIC, _REFUSED),
    (Kind.UNKNOWN, regex(rf"\bkernels?\b.{{0,80}}{_HANGS}", re.IGNORECASE)),
    (Kind.OTHER, _OF_HOST),
    (Kind.UNKNOWN, regex(rf"{_COMPILE}.{{0,80}}{_FAILS}|{_FAILS}.{{0,80}}{_COMPILE}", re.IGNORECASE)),
)
#: Those that tell the kind whatever else a line says.
_PLAIN = (
    (Kind.ASSERTION, _NATIVE_ASSERTION),
    (Kind.MLIR_DIAGNOSTIC, _REFUSED),
    (Kind.SEGFAULT, regex(rf"{_CRASH}|\bSIGBUS\b", re.IGNORECASE)),
    (Kind.ABORT, regex(r"\bSIG(?:FPE|ILL|ABRT)\b")),
    (Kind.LAUNCH_ERROR, _CODE),
    (Kind.PTXAS, regex(r"\bptxas(?:'s)? (?:error|failure|crash|rejects|refuses|fails)\b", re.IGNORECASE)),
    (Kind.TIMEOUT, _ENDLESS),
    # Where, and not how.
    (
        Kind.UNKNOWN,
        regex(
            r"\bcrash(?:es|ed|ing)? (?:in|inside|within) (?:the )?`?[\w:]{3,100}`?(?:\(\))? (?:function|pass)\b",
            re.IGNORECASE,
        ),
    ),
    # Which kernel fails, and not how.
    (
        Kind.UNKNOWN,
        regex(
            r"\bkernels?\b[^.]{0,80}\b(?:won't|will not|does not|doesn't|cannot|can't) (?:compile|build)\b",
            re.IGNORECASE,
        ),
    ),
)
_PROGRAM = regex(r"\s{4}|\s*(?:raise|return|assert|import|from|def|@|#include|//)\b")
# What takes long, fails and has files that cannot be opened, as well.
_BUILD = regex(r"\bpip3? |\bdocker\b|\bcmake\b|\b[Bb]uild(?:s|ing)?\b(?!-)|\binstall")
_NEVER_OF_BUILDS = (Kind.SEGFAULT, Kind.LAUNCH_ERROR, Kind.OTHER)
_END_OF_SENTENCE = regex(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) {1,4}(?=[A-Z`'\"(])")


def plain_kind(line: str) -> Kind | None:
    """The kind of a failure for which a line has the plain words, whatever else it says."""
    return next((kind for kind, says in _PLAIN if says.search(line)), None)


def described(lines: Iterable[str]) -> Finding | None:
    """The failure that a sentence describes; None if none does. One that names its kind precedes one that does not."""
    sentences = [
        (position, sentence)
        for position, line in enumerate(lines)
        if not _PROGRAM.match(line)
        for sentence in _END_OF_SENTENCE.split(line)
    ]
    for kind, pattern in _SAYS:
        for position, sentence in sentences:
            if _OF_HOST.search(sentence) and kind is not Kind.OTHER:
                continue
            if pattern.search(sentence) and (kind in _NEVER_OF_BUILDS or not _BUILD.search(sentence)):
                return Finding(bounded_diagnosis(kind, sentence, sentence), Specificity.TAIL, position)
    for position, sentence in sentences:
        # A pass is the compiler's own.
        if _FAIL.search(sentence) and (name := named_pass([sentence])):
            diagnosis = bounded_diagnosis(Kind.UNKNOWN, sentence, sentence, pass_name=name)
            return Finding(diagnosis, Specificity.TAIL, position)
    return None
