"""Whether a failure is one of a Triton, Gluon or CuTe compile or launch at all.

Other programs print much of what a compiler prints: a segmentation fault, an error of ptxas or of a linker, a
CUDA error. Such a line counts only with evidence: its own words, or words around it or elsewhere in the text that only
a program that compiles with Triton prints. Words of other programs nearby count against it.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import dropwhile, islice, takewhile

from triage.logs import named_pass, other_programs
from triage.logs.finding import Finding, Specificity
from triage.logs.frontend_texts import is_frontends, is_of_another_class, is_tritons
from triage.logs.native_texts import is_native
from triage.logs.patterns import regex
from triage.logs.recognisers import environment, stack_trace
from triage.logs.sieve import Sieve, sieve_for
from triage.logs.window import Window
from triage.model.compilers import CUTE, TRITON, Compiler
from triage.model.diagnosis import Diagnosis, Kind, Trait

#: Strings that occur only in texts about a compile with CuTe DSL, Triton or one of Triton's relatives. Names alone are
#: not included: two other well-known programs are named Triton, CUTLASS and CuTe are also C++ libraries, and lists of
#: installed packages contain all of them.
EVIDENCE: Mapping[Compiler, tuple[str, ...]] = {
    TRITON: (
        "triton.jit", "triton.language", "triton.compiler", "triton.runtime", "triton.autotune", "triton.backends",
        "triton/compiler", "triton/runtime", "triton/backends", "triton/language", "triton/_C", "triton/lib/",
        "triton/common/",
        "triton\\compiler", "triton\\runtime", "triton\\backends", "triton\\language", "triton\\_C", ".triton/cache",
        "TritonGPU", "triton_gpu", "tl.constexpr", "tt.func", "ttg.", "ttng.", "!tt.ptr", "_inductor",
        "triton_poi_", "triton_red_", "triton_per_", "triton_tem_", "make_ttgir", "make_llir", "gluon",
        "packages/triton/", "packages\\triton\\", "2-.-0-.-0-", "2-.-1-.-0-", "riton kernel",
        "Triton compilation failed", "helion", "triton/code_gen", "LLVMDialectModule", "where out dims are: [",
        "[Triton][BEG]", "ttshared.mlir", "ttadapter.mlir",
        # In the stack that LLVM dumps, which the other library of this name does not.
        "libtriton.so  ", "libtriton.so 0x0000",
        "Pallas GPU", "Pallas Triton", "pallas.triton", "pallas/triton", "flag_gems/", "flag_gems.",
        # How releases before 3 mangle a kernel: the types of its arguments, or what they are specialised for.
        "__Pbf16_", "__Pfp8", "__Pfp16_", "__Pfp32_", "__Pfp64_", "__Pi1_", "__Pi8_", "__Pi16_", "__Pi32_", "__Pi64_",
        "_0d1d2",
    ),
    CUTE: (
        "cutlass.cute", "cutlass_dsl", "base_dsl", "cute.jit", "cute.kernel", "cute.compile", "CUTE_DSL_",
        "DSLRuntimeError", "DSLUserCodeError", "cute_nvgpu", "!cute.", "cuteDSL", "CuTeDSL", "CuTe DSL", "CuTe-DSL",
        "CuteDSL", "CuTe Python DSL", "cute.make_", "cutlass.torch", "mark_layout_dynamic", "CuTe kernel",
        "flash_attn.cute", "flash_attn/cute",
    ),
}  # fmt: skip
# Ambiguous names: an inference server, a library for binary analysis and environments of Python are named Triton too.
_FOLDER = r"[-_]\w{1,40}[/\\](?:lib|Lib|bin|Scripts)[/\\]"
_NAMED = regex(
    rf"(?<![a-z])triton(?![-_ ]?(?:inference|server|client)|_?python_backend|backend|{_FOLDER})"
    r"|inductor|\bflag_?(?:tree|gems)|\btl\.[a-z]|torch\.compile|cute.?dsl|cutlass[-_.]dsl",
    re.IGNORECASE,
)
_NAMED_TRITON = regex(
    rf"(?<![a-z])triton(?!{_FOLDER})"
    r"|inductor|\bflag_?(?:tree|gems)|\btl\.[a-z]|torch\.compile",
    re.IGNORECASE,
)
_LISTED = regex(
    r"^[\s|*-]{0,8}(?:pytorch-|nvidia-)?(?:triton|cutlass|flag_?(?:tree|gems))[\w-]{0,20}(?:\s{0,40}(?:==|[@:|])\s{0,4}|\s{1,40})v?\d"
    r"|(?<![a-z])triton\b.{0,20} not (?:found|available|installed)\b",
    re.IGNORECASE,
)
# The modules that Python's faulthandler lists, which are all that are loaded.
_MODULES = regex(r"(?:(?:^|Extension modules: |, )[\w.]{2,80}(?=,)){6}")
# A line of a list, and of a table, of which one cell is read.
_ITEM = regex(
    r"[\s|*-]{0,8}(?:pytorch-|nvidia-)?triton(?:\s{0,40}(?:==|[@:|])\s{0,4}|\s{1,40}|\s{0,8}$)(?:v?\d\S{0,40}(?:\s{2}|\s?[|(]|$)|$)",
    re.IGNORECASE,
)
# Words in the failing line itself: Triton's, its relatives', and those of any GPU compiler.
_OWN_WORDS = regex(
    r"Triton Error \[|Error during Intel "
    r"|\b(?:tt|ttg|ttng|ttig|tle|amdg|nvws|triton_(?!client|server|backend|model|python)[a-z_]{2,20})\.[a-z]"
    r"|\bptxas-blackwell\b|' op not assigned a pipeline stage|operation scheduled before its operands"
    r"|LinearLayout|2-\.-\d-\.-\d-|triton::(?:ir|codegen|gpu|driver|nvidia|tools)\b|mlir::triton"
    r"|triton(?:amd|intel|nvidia)?gpu|\bPassManager::run failed|\bmma16816\b"
    # Triton's layouts in MLIR's namespace, and a device assertion without a location.
    r"|mlir::\w{0,40}(?:MMA|(?:Blocked|Shared|DotOperand)Encoding)|^unknown:0: unknown: block: \["
    # the launcher's functions in a native stack
    r"|\b(?:gpuAssert(?:\.\w{1,20}){0,3}|_?launch)\(\)\s{1,4}main\.c:\d"
    r"|\bLLD failed to link hsaco\b"
    r"|\btriton[./\\_-](?:compiler|runtime|backends|language|_C|jit|opt|poi|red|per|tem)\b",
    re.IGNORECASE,
)
# Inputs that Triton passes to ptxas: a file named by Python's tempfile, or by LLVM in Triton 2. CuTe DSL uses no file.
_ASSEMBLED = regex(
    r"\bptxas(?:\.exe)? (?:(?:[A-Za-z]:)?[^\s:,]{0,300}[/\\])?"
    r"(?:tmp[a-z0-9_]{8}\.ptx|compile-ptx-src-[0-9a-f]{6}), line \d"
)
# Those of MLIR's own serializer of GPU modules and of nvcc, which neither uses.
_ASSEMBLED_BY_OTHERS = regex(r"\bptxas(?:\.exe)? (?:[^\s:,]{0,300}[/\\])?(?:mlir-|tmpxft_)[\w.-]{1,200}\.ptx, line \d")
# CuTe DSL's words in the failing line itself.
_CUTE_WORDS = regex(
    r"'cute(?:_nvgpu)?\.\w|!cute(?:_nvgpu)?\.|\bnvidia_cutlass_dsl\b|\bCUTE_DSL_|\bDSL[A-Z]\w{2,40}Error\b"
    r"|\bmlir_(?:global|addressof|constant|undef|zero|poison)\w{0,20}\(\) "  # operation builders in Python
    r"|\bbase_dsl\b|\bcutlass\.(?:cute|_mlir|cutlass_dsl)\b|\bCu[Tt]e ?-?DSL\b|_cute_ops_gen|cuda_dialect_"
    r"|\b[a-d]_dtype should be |\bType width mismatch: \d{1,3} != "  # from its examples, which libraries copy
    r"|strides\[leading_dim\]|leading dimension from layout"
    r"|'cutlass(?:\.\w{1,40}){0,4}'"
)
_COMPILER_WORDS = regex(
    r"(?<!\.)\bmlir\b|mlir::|nvvm|nvptx|amdgcn|amdgpu|\brocdl|wgmma|tcgen05|__nv_"
    r"|'(?:arith|scf|cf|func|llvm|math|nvg|nvws|ub)\.\w",
    re.IGNORECASE,
)
#: `kernel[grid](x)`: the syntax of a kernel launch, rare in other calls.
LAUNCH = regex(r"\w\[[^\]]{1,200}\]\(")
#: Messages of torch and ROCm for a device error of any kernel.
_OF_TORCH = regex(r"\b(?:CUDA|HIP) error: |CUDNN_STATUS|CUBLAS_STATUS|NCCL|Memory access fault by GPU")
#: Without other evidence, a text of at most this many lines is taken to be the failure alone; fewer where its line is
#: one that any program may print.
_FEW, _FEWEST = 8, 3
#: What ptxas says of a GPU that is newer than it is. Builds that name the GPUs that they are for name older ones.
_NEWER_GPU = regex(r"Value 'sm_1\d{2}[a-z]?' is not defined for option 'gpu-name'")
#: Few Python programs contain LLVM.
_LLVM_STOPS = "LLVM ERROR: "
#: Factor on that limit where the text names a compiler; lists of installed packages do so too, but are longer.
_TIMES_IF_NAMED = 4
#: Failures of programs that are run mainly by GPU compilers.
_COMPILERS = frozenset(
    {Kind.ASSERTION, Kind.UNREACHABLE, Kind.LLVM_FATAL, Kind.LLVM_DIAGNOSTIC, Kind.PTXAS, Kind.ASSEMBLER, Kind.ABORT}
)
#: What libtriton prints or raises in words of its own.
_NATIVE = frozenset({Kind.LLVM_FATAL, Kind.UNREACHABLE, Kind.MLIR_DIAGNOSTIC})
#: A library's message that it continues without Triton, and its function that finds out: where anything else failed,
#: that is the failure.
_WARNS = ("Error caught was", "A matching Triton is not available")
_WARNING = "a warning: the library that prints it goes on without Triton"
_GOES_ON = regex(
    r"\b[Dd]isabling Triton\b|\bwill not be (?:enabled|available)\b|\b[Ff]alling back\b|\b[Uu]sing dummy\b"
)
_TRIES = "_is_triton_available"
#: Exceptions that Triton raises after its passes or the translation to LLVM printed an error; pastes often end in them.
_RAISED_BELOW = ("PassManager::run fai", "failed to translate module to LLVM")
#: Errors that other programs get from the same tools; without evidence they are attributed to those.
_MAY_BE_OTHERS = (
    other_programs.is_of_the_driver,
    other_programs.is_about_cpp,
)
# The end of a traceback.
_RAISED = regex(r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{1,60}(?:: |$)")
#: Lines that a program which goes on prints directly below.
_FEWEST_PRINTED = 5
# A bar of tqdm's, which cleaned lines lack.
_BAR = re.compile(rb"\d%\|[^\n]{0,400}\[\d\d:\d\d<")
#: How many lines after a failure count as near it; those before it are the window's.
_NEAR = 12


@cache
def evidence_sieve(compiler: Compiler) -> Sieve:
    """Finds the strings that are evidence of a compiler."""
    return sieve_for(EVIDENCE[compiler])


def is_about(lines: Sequence[str]) -> bool:
    """Whether a text is about Triton or CuTe DSL: it has evidence of them, words of theirs or their names."""
    return any(map(_is_evidence, lines)) or (
        any(map(_NAMED.search, lines)) and not other_programs.are_other_tritons(lines)
    )


def _is_evidence(line: str) -> bool:
    own = _OWN_WORDS.search(line) or _CUTE_WORDS.search(line)
    return bool(own) or any(string in line for strings in EVIDENCE.values() for string in strings)


def _has_words(lines: Sequence[str]) -> bool:
    """True if the lines other than package lists are about a compiler, or any is an error in words of Triton's."""
    unlisted = [line for line in lines if not (_ITEM.match(line) or _MODULES.match(line))]
    return is_about(unlisted) or any(map(is_frontends, lines)) or any(map(is_native, lines))


def is_of_others(lines: Sequence[str]) -> bool:
    """Whether a text is about something else: another program ran, or a user describes it."""
    if any(_LLVM_STOPS in line for line in lines) and other_programs.is_of_python(lines):
        return False
    return not _has_words(lines) and (any(map(other_programs.has_run, lines)) or other_programs.has_sentences(lines))


def _compiler(diagnosis: Diagnosis, line: str) -> Compiler | None:
    """The compiler whose words are in the failing text; None if it has none."""
    for text in (line[:1000], diagnosis.message[:1000]):
        if _CUTE_WORDS.search(text):
            return CUTE
        if _OWN_WORDS.search(text) or _ASSEMBLED.search(text):
            return TRITON
    return None


def _of_output(evidence: Collection[Compiler], findings: Iterable[Finding], whole: Sequence[str]) -> set[Compiler]:
    """The compilers of the failures and printed lines, or those named in sentences if there are no such lines.

    A user who quotes a failure of one compiler may compare it with another, so printed lines take precedence.
    """
    printed = [line for line in whole if not other_programs.is_sentence(line)]
    of_lines = {name for name in evidence if any(text in line for line in printed for text in EVIDENCE[name])}
    of_failures = {compiler for finding in findings if (compiler := finding.diagnosis.compiler)}
    return of_lines | of_failures or set(evidence)


def _naming(lines: Sequence[str]) -> list[str]:
    """The lines that name a compiler, except those of package lists and those that say that it is not installed."""
    if other_programs.are_other_tritons(lines):
        return []
    return [line for line in lines if _NAMED.search(line) and not (_LISTED.search(line) or _MODULES.match(line))]


def _named(naming: Sequence[str]) -> Compiler | None:
    """The only compiler that lines name; None where they name none or both."""
    of_cute = any(map(other_programs.names_cute, naming))
    of_triton = any(map(_NAMED_TRITON.search, naming))
    return None if of_cute is of_triton else CUTE if of_cute else TRITON


def attributed(finding: Finding, window: Window) -> Finding:
    """The finding with the compiler whose words its lines have."""
    if finding.diagnosis.compiler is not None:
        return finding
    compiler = _compiler(finding.diagnosis, window.line)
    return replace(finding, diagnosis=replace(finding.diagnosis, compiler=compiler)) if compiler else finding


def _is_generic(finding: Finding) -> bool:
    """True for a failure that any program may print."""
    diagnosis = finding.diagnosis
    end = finding.specificity is Specificity.TAIL and diagnosis.kind.has(Trait.PROCESS_END)
    return end or diagnosis.kind is Kind.OUT_OF_MEMORY or _OF_TORCH.search(diagnosis.message) is not None


def _longest(finding: Finding) -> float:
    """How many lines a text without any evidence may have if the failure in it is to count."""
    if other_programs.is_about_another_dialect(finding.diagnosis):
        return 0
    if _COMPILER_WORDS.search(finding.diagnosis.message[:1000]):
        return math.inf
    source = finding.diagnosis.source
    if source is not None and source.file.endswith(".mlir"):
        return 0  # input of any compiler; the error does not mention Triton
    if stack_trace.is_stack(finding.diagnosis) or any(rule(finding.diagnosis) for rule in _MAY_BE_OTHERS):
        return 0
    message = finding.diagnosis.message
    of_torch = _OF_TORCH.search(message) is not None or environment.is_of_driver(message)
    if of_torch or other_programs.is_without_terms(finding.diagnosis):
        return 1  # users ask about such a line alone
    if _is_generic(finding) or (finding.diagnosis.kind is Kind.MLIR_DIAGNOSTIC and source is None):
        return _FEWEST
    if finding.diagnosis.kind is Kind.ASSEMBLER and "lld: error" in finding.diagnosis.message:
        return _FEWEST  # lld links programs of all kinds
    compilers = finding.diagnosis.kind in _COMPILERS or "llvm::" in finding.diagnosis.message
    return math.inf if compilers else _FEW


def _is_own(diagnosis: Diagnosis) -> bool:
    """True where the failing text itself shows that it is of a compile or launch."""
    if other_programs.is_about_another_dialect(diagnosis):
        return False
    if diagnosis.compiler is CUTE:
        return True
    first = diagnosis.message[:1000]
    match diagnosis.kind:
        case Kind.FRONTEND_ERROR | Kind.OUT_OF_RESOURCES:
            return True
        case Kind.ENVIRONMENT:
            return environment.is_tritons(first) and not environment.is_of_any_program(first)
        # On the device as well, where a sanitizer names the line.
        case Kind.MLIR_DIAGNOSTIC | Kind.LAUNCH_ERROR if (
            diagnosis.source is not None and diagnosis.source.file.endswith(".py")
        ):
            return True
    words = diagnosis.exception is not None and is_tritons(first.partition("\n")[0])
    if words or any(pattern.search(first) for pattern in (_OWN_WORDS, _ASSEMBLED)):
        return True
    if diagnosis.pass_name is not None and named_pass.is_tritons(diagnosis.pass_name):
        return True
    return diagnosis.kind in _NATIVE and is_native(first)


def _is_of_any_compiler(diagnosis: Diagnosis) -> bool:
    """True for an error in words of MLIR or LLVM only; other compilers with sources in Python print those too."""
    first = diagnosis.message[:1000]
    is_exception = diagnosis.exception is not None and diagnosis.kind is Kind.PYTHON_EXCEPTION
    words_of_all = diagnosis.kind is Kind.MLIR_DIAGNOSTIC or (is_exception and not is_frontends(first))
    return words_of_all and diagnosis.compiler is not CUTE and _OWN_WORDS.search(first) is None


#: Cached per line: neighbouring failures share the lines around them.
_has_run = lru_cache(64)(other_programs.has_run)
_is_tritons = lru_cache(64)(environment.is_tritons)
_is_of_a_build = lru_cache(64)(other_programs.is_of_a_build)
_names_cpp = lru_cache(64)(other_programs.names_cpp)


def judged(finding: Finding, window: Window, traceback: bool | None) -> Finding:
    """The finding with ``foreign`` set as far as it and the lines around it decide.

    ``traceback``: whether the traceback that the line ends lacks frames of Triton; None if it does not end one.
    """
    diagnosis = finding.diagnosis
    is_own = _is_own(diagnosis)
    if is_own and not _is_of_any_compiler(diagnosis):
        return replace(finding, foreign=False)
    if _ASSEMBLED_BY_OTHERS.search(diagnosis.message[:1000]):
        return replace(finding, foreign=True)
    near = [*window.before, window.line, *islice(window.after, _NEAR)]
    has_run = any(map(_has_run, near))
    if is_own and not has_run:
        return replace(finding, foreign=False)
    of_any = _is_generic(finding) or environment.is_of_any_program(diagnosis.message)
    if traceback is not None and (finding.specificity <= Specificity.EXCEPTION or of_any):
        return replace(finding, foreign=traceback)
    # Triton's own launcher is compiled and linked as well.
    of_triton = (line for line in near if _is_tritons(line) and not environment.is_of_any_program(line))
    if diagnosis.kind is Kind.ENVIRONMENT and any(of_triton):
        return replace(finding, foreign=False)
    # The launcher is written in C.
    of_others = environment.is_of_a_source(window.line) or any(
        _is_of_a_build(line) or _names_cpp(line) for line in near
    )
    if diagnosis.kind is Kind.ENVIRONMENT and of_others:
        return replace(finding, foreign=True)
    if diagnosis.kind is Kind.ENVIRONMENT and any(map(environment.called_by_python, islice(window.after, _NEAR))):
        return replace(finding, foreign=False)
    if diagnosis.kind is Kind.MLIR_DIAGNOSTIC and any(
        raised in line for line in islice(window.after, _NEAR) for raised in _RAISED_BELOW
    ):
        return replace(finding, foreign=has_run)
    names_other = other_programs.is_of_another_library(diagnosis) or other_programs.names_cpp(window.line)
    foreign = True if names_other else None
    return replace(finding, foreign=foreign, beside=has_run)


def _is_debugged(whole: Sequence[str]) -> bool:
    """True where a debugger names the compiler's library: two are called so, of which one runs beside torch."""
    return any("libtriton.so`" in line for line in whole) and any("torch." in line for line in whole)


def _goes_on(finding: Finding, whole: Iterable[str]) -> bool:
    """True where a library only says that it continues without Triton."""
    message = finding.diagnosis.message
    if message.startswith(_WARNS) or (finding.diagnosis.kind is Kind.ENVIRONMENT and _GOES_ON.search(message)):
        return True
    return "No module named 'triton'" in message and any(mark in line for line in whole for mark in (*_WARNS, _TRIES))


def _went_on(finding: Finding, whole: Sequence[str]) -> bool:
    """True where the program printed more below such a message and the traceback that may follow it."""
    below = list(takewhile(str.strip, whole[finding.position + finding.extent + 1 :]))
    if below and below[0].startswith("Traceback"):
        below = list(islice(dropwhile(lambda line: not _RAISED.match(line), below), 1, None))
    below = [line for line in below if not _GOES_ON.search(line)]
    return len(below) >= _FEWEST_PRINTED and not other_programs.is_sentence(below[0])


def shows_progress(end: bytes) -> bool:
    """Whether the end of a text, as it was printed, shows progress below a message that Triton is missing."""
    said = max(end.rfind(mark.encode()) for mark in _WARNS)
    return said >= 0 and _BAR.search(end, said) is not None


def settled(
    findings: Iterable[Finding],
    evidence: Collection[Compiler],
    whole: Sequence[str],
    fails_elsewhere: bool,
    progresses: bool = False,
) -> list[Finding]:
    """The findings with ``foreign`` and compiler set; where nearby lines do not decide them, the whole text does.

    ``evidence``: the compilers of which the text has evidence. ``whole``: its lines, empty for a long text.
    ``fails_elsewhere``: another program failed as well, or a traceback breaks off. ``progresses``: what goes on without
    Triton is seen to.
    """
    has_evidence = bool(evidence) or _is_debugged(whole)
    findings = list(findings)
    compilers = _of_output(evidence, findings, whole) if has_evidence else set()
    only = next(iter(compilers)) if len(compilers) == 1 else None
    known = [
        replace(finding, diagnosis=replace(finding.diagnosis, compiler=finding.diagnosis.compiler or only))
        for finding in findings
    ]
    known = [
        replace(finding, diagnosis=replace(finding.diagnosis, compiler=CUTE), foreign=False)
        if finding.foreign is None and other_programs.is_of_cute(finding.diagnosis, whole)
        else finding
        for finding in known
    ]
    going_on = [finding.position for finding in known if _goes_on(finding, whole)]
    went_on = [
        finding.position
        for finding in known
        if finding.position in going_on and (progresses or _went_on(finding, whole))
    ]
    breaks_off = fails_elsewhere
    fails_elsewhere |= len(going_on) < len(known)
    # The lines of a long text are not stored; there the lines near a failure decide.
    naming = [] if has_evidence else _naming(whole)
    named = _named(naming)
    # An exception chained to a launch `kernel[grid](…)` is Triton's unless the text names CuTe DSL.
    launched = None if CUTE in evidence or any(map(other_programs.names_cute, whole)) else TRITON
    known = [
        replace(
            finding,
            diagnosis=replace(finding.diagnosis, compiler=named or (launched if finding.foreign is False else None)),
        )
        if finding.diagnosis.exception is not None and finding.diagnosis.compiler is None
        else finding
        for finding in known
    ]
    # An inference server has caches, models and exceptions of its own.
    of_server = not has_evidence and other_programs.are_other_tritons(whole) and not any(map(_is_evidence, whole))
    is_open = not has_evidence and any(finding.foreign is None for finding in known) and not _has_words(whole)
    has_run = is_open and any(map(other_programs.has_run, whole))
    has_prose = is_open and other_programs.has_sentences(whole, [finding.diagnosis.message for finding in known])
    lines = (len(whole) or math.inf) / (_TIMES_IF_NAMED if naming else 1)

    # Inductor has back ends without Triton, whose programs end as any do.
    of_inductor_alone = bool(whole) and compilers == {TRITON} and not any("triton" in line.lower() for line in whole)

    def is_foreign(finding: Finding) -> bool:
        if of_inductor_alone and finding.diagnosis.kind.has(Trait.PROCESS_END) and not _is_own(finding.diagnosis):
            return True
        if finding.position in (going_on if fails_elsewhere else went_on):
            return True
        if of_server or (finding.diagnosis.file, finding.diagnosis.line) in of_others:
            return True
        # What a sentence quotes was not judged with the lines around it.
        if finding.foreign is None and other_programs.is_of_another_library(finding.diagnosis):
            return True
        if finding.foreign is not None or has_evidence:
            return finding.foreign is True
        # What builds the launcher has a name of its own.
        in_prose = has_prose and not (
            (finding.diagnosis.kind is Kind.ENVIRONMENT and any(map(environment.builds_launcher, whole)))
            or other_programs.is_of_torch(finding.diagnosis, whole)
            or _NEWER_GPU.search(finding.diagnosis.message)
        )
        beside = finding.beside and (not whole or _is_generic(finding))
        of_another = breaks_off and is_of_another_class(finding.diagnosis.message[:1000])
        # Any program is compiled, linked and loaded.
        of_any = finding.diagnosis.kind is Kind.ENVIRONMENT and not naming and lines > _FEWEST
        return has_run or in_prose or beside or of_another or of_any or lines > _longest(finding)

    # A debugger shows what the assertion that it stopped at printed once more, without the function.
    of_others = {
        (finding.diagnosis.file, finding.diagnosis.line)
        for finding in known
        if finding.foreign and finding.diagnosis.kind is Kind.ASSERTION and finding.diagnosis.file
    }
    result: list[Finding] = []
    for finding in known:
        # The end of a process without evidence of a compile, and what ptxas or a pass manager reports of the same
        # input, belong to the failure above.
        is_report = bool(result) and _is_report_of(finding, result[-1].diagnosis)
        is_end = finding.foreign is None and _is_generic(finding) and not has_evidence
        follows = bool(result) and result[-1].foreign is True and (is_end or is_report)
        result.append(replace(finding, foreign=is_foreign(finding) or follows))
    return [
        _as_warning(finding) if finding.position in going_on and not finding.foreign else finding for finding in result
    ]


def _as_warning(finding: Finding) -> Finding:
    """A message that a library goes on without Triton, in a text in which nothing else failed."""
    diagnosis = finding.diagnosis
    return replace(finding, diagnosis=replace(diagnosis, elsewhere=True, notes=(*diagnosis.notes, _WARNING)))


def _is_report_of(finding: Finding, above: Diagnosis) -> bool:
    """True where ptxas says that it gave up after the error above, or the pass manager that it failed on the file of
    MLIR that it is in."""
    diagnosis = finding.diagnosis
    if diagnosis.kind is not above.kind or finding.specificity is not Specificity.TAIL:
        return False
    if diagnosis.source is None or above.source is None:
        return diagnosis.kind is Kind.PTXAS
    return diagnosis.source.file.endswith(".mlir") and diagnosis.source.file == above.source.file
