"""Words of CuTe DSL that several recognisers have to know: its exceptions, and those that only wrap another failure."""

from triage.logs.patterns import regex

#: The exceptions of CuTe DSL, in every release; ``CompilationError`` only with its module, because Triton has one too.
_EXCEPTIONS = (
    r"(?:DSL[A-Z]\w{2,40}|OpError|CompilerDiagnosticError|MLIRError|CudaDriverDependencyError"
    r"|(?<=base_dsl\.compiler\.)CompilationError)"
)
#: The line of an exception of the DSL. Until 4.5 its text begins with its own name: ``OpError: OpError: expects …``.
EXCEPTION = regex(
    rf"(?:(?:[\w.]{{1,200}}\.)?(?:<locals>\.)?(?P<name>{_EXCEPTIONS})):(?: (?:(?P=name): )?(?P<text>.{{0,8000}}))?$"
)
#: In the text of an exception: it says only in what part of a compile another one was raised.
WRAPPER = regex(
    r"ICE(?: IR Verification Failed)?$|Error during runtime code generation for function `"
    r"|Verification failed:$|Failure while executing pass pipeline:$|NVVM Compilation Error:$"
    r"|Operation creation failed:?$|(?:\.\.\. )?NVPTX compiler invocation failed[ .…]{0,8}$|CudaDriverDependencyError: "
)
#: The modules of the DSL, as paths in tracebacks and locations show them.
OF_PACKAGE = regex(
    r"nvidia_cutlass_dsl[\\/]"
    r"|[\\/]cutlass[\\/](?:_mlir|_mlir_helpers|base_dsl|cutlass_dsl|cute|utils|pipeline|memory|torch|jax|experimental)\b"
)
#: Those of its modules that convert arguments, or load and run what was compiled: no kernel is traced there.
OF_RUNTIME = regex(
    r"[\\/]cutlass[\\/](?:cute[\\/]runtime|torch|jax|_mlir[\\/]execution_engine|base_dsl[\\/]runtime"
    r"|[\w\\/]{1,80}jit_executor)\b"
)
#: Where a compile of triage's own runs: its frames are neither the user's nor the DSL's.
OF_WORKER = regex(r"[\\/]triage[\\/]harness[\\/]worker[\\/]")
# Until 4.5 banners have emoji around the words; whoever cannot show them writes underscores.
_DECORATION = regex(r"^(?:[^\w`'\"<(\[%#.]{1,12}(?=\S)|_{3,12} )|(?:(?<=\S)[^\w`'\".:;,!?)\]>…]{1,12}| _{3,12})$")


def undecorated(text: str) -> str:
    """The text without the emoji around it."""
    return _DECORATION.sub("", text.strip()).strip()


def is_wrapper(text: str) -> bool:
    """True for an exception's text that only wraps another failure."""
    return WRAPPER.match(undecorated(text)) is not None
