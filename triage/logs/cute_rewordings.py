"""Messages of CuTe DSL that say the same in the words of different releases, and the codes that it has since 4.6.

Collected by comparing what the same functions of neighbouring released wheels raise, and what the same kernels print.
As in `triage.logs.rewordings` the texts are normalised ones, and only the same check belongs here.
"""

from triage.logs.patterns import Rewordings, regex

# Where a code covers several checks: what of its text tells them apart.
_SUBJECTS = {
    "UNSUP_EARLY_EXIT": regex(r"Early exit \((\w+)\)"),
    "PHASE_REQUIRES_CONSTANT": regex(r"`(\w+)\(\)`"),
    "LAUNCH_INVALID_GRID": regex(r"Launch (\w+)"),
    "LAUNCH_INVALID_DIMENSION": regex(r"Launch (\w+)"),
    "LAUNCH_MISSING_ARG": regex(r"argument `(\w+)`"),
}

#: What says how a check failed until 4.5, and the code that 4.6 gives that check.
CODES: tuple[tuple[str, str], ...] = (
    # ast_preprocessor.py
    (r"Early exit \((\w+)\) is not allowed in .*", r"UNSUP_EARLY_EXIT \1"),
    (r"dynamic for loop with else is not supported.*", "UNSUP_LOOP_ELSE"),
    (r"`global` is not supported in DSL.*", "UNSUP_GLOBAL"),
    (r"`[^`]*` is referring to `[^`]*` which is not tracked by current JIT context.*", "UNSUP_NONLOCAL"),
    (r"`[^`]*` decorator must be the inner most decorator.*", "UNSUP_DECORATOR_ORDER"),
    (r"Unsupported number of arguments in range.*", "UNSUP_RANGE_ARGS"),
    (r"Read '_' is not allowed.*", "UNSUP_READ_UNDERSCORE"),
    (r"Unsupported component type in f-string.*", "UNSUP_FSTRING"),
    # ast_helpers.py
    (r"The function `const_expr\(.*", "PHASE_REQUIRES_CONSTANT const_expr"),
    (r"Only constexpr \(Python Value\) is allowed here.*", "PHASE_REQUIRES_CONSTANT"),
    (r"`range_constexpr` requires `?constexpr.*", "ARG_NON_CONSTANT"),
    (r"At most one format specifier is supported for dynamic expressions.*", "UNSUP_FSTRING_FORMAT"),
    (r"Alignment specifier is not supported for dynamic expressions.*", "UNSUP_FSTRING_ALIGN"),
    (r"Built-in function `?\w+`? is not supported in DSL.*", "UNSUP_BUILTIN"),
    (r"[Ff]unction .* is a closure (?:that captures variable|and is not supported).*", "SCOPE_CLOSURE_CAPTURE"),
    (r"Incorrect `?[\w.]+`? is used.*", "CALL_WRONG_IMPORT"),
    # dsl.py
    (r"Expect 3d (grid|block).*", r"LAUNCH_INVALID_GRID \1"),
    (r"Expected (grid|block) dimension to be less than or equal to 3.*", r"LAUNCH_INVALID_GRID \1"),
    (r"Expected integer for (\w+) dimension.*", r"LAUNCH_INVALID_DIMENSION \1"),
    (r"Expect 3d cluster.*", "LAUNCH_INVALID_CLUSTER"),
    (r"Expect 3d fallback_cluster.*", "LAUNCH_INVALID_FALLBACK"),
    (r"(\w+) is required for \w+.*", r"LAUNCH_MISSING_ARG \1"),
    (r"Missing required argument in `.*", "CALL_MISSING_ARG"),
    (r"failed to generate argument #\w+ \(\w+\) for JIT function .*", "ARG_UNSUPPORTED_TYPE"),
    (r"invalid arch, expected one of .*", "CONFIG_UNSUPPORTED_ARCH"),
    (r"Sets are not supported in \w+ to ensure order preservation.*", "ARG_UNORDERED_CONTAINER"),
    # compiler.py
    (r"Function is not set or invalid.*", "CALL_FUNCTION_NOT_PROVIDED"),
    (r"Object is not callable.*", "CALL_NOT_CALLABLE"),
    (r"Invalid function type, only function, method and module are supported.*", "CALL_UNSUPPORTED_CALLABLE_TYPE"),
    (r"Function .* is not decorated with jit decorator.*", "CALL_MISSING_JIT_DECORATOR"),
    (r"Invalid compile option: .*", "CONFIG_UNKNOWN_COMPILE_OPTION"),
    (r"Invalid compile options: .*", "CONFIG_MALFORMED_COMPILE_OPTIONS"),
    (r"Invalid OPT_LEVEL: .*", "CONFIG_INVALID_OPT_LEVEL"),
    (r"TVM FFI is not installed.*", "CONFIG_MISSING_TVM_FFI"),
    # typing.py; Python's own words before 4.2.
    (r"Unable to convert dynamic `?\w+`? value to bool at compile time.*", "PHASE_DYNAMIC_TO_STATIC_BOOL"),
    (r"'?<class '[\w.]+'>'? object cannot be interpreted as an integer.*", "PHASE_DYNAMIC_INDEX"),
    (r"(?:list|tuple) indices must be integers or slices, not (?:Int|Uint|Integer)\d*\b.*", "PHASE_DYNAMIC_INDEX"),
    (r"(?:int|float)\(\) argument must be .*, not '(?:Int|Uint|Integer)\d*'", "PHASE_DYNAMIC_INDEX"),
    (r"expects align be power of 2 as positive value.*", "ARG_INVALID_ALIGNMENT"),
    # ffi.py
    (r"failed to find matching overload for call to ffi.*", "CALL_FFI_NO_MATCH"),
    (r"Keyword arguments are not supported for FFI calls.*", "CALL_FFI_NO_KWARGS"),
    (r"Number of arguments mismatch, expected .*", "ARG_COUNT_MISMATCH"),
    # jit_executor.py
    (r"unexpected keyword argument.*", "CALL_UNEXPECTED_KWARG"),
    (r"multiple values for argument.*", "CALL_DUPLICATE_ARGUMENT"),
    (r"failed to bind arguments to function signature.*", "CALL_SIGNATURE_MISMATCH"),
    (r"input args/kwargs length does not match runtime function signature.*", "CALL_SIGNATURE_MISMATCH"),
    # cutlass.py
    (r"Failed to bind arguments to function .*", "ARG_BIND_FAILED"),
    (r"Unsupported keyword arguments for built-in function.*", "CALL_BUILTIN_KWARGS_UNSUPPORTED"),
    (r"Unsupported built-in function.*", "UNSUP_BUILTIN_FUNCTION"),
    (r"Unsupported comparison operator.*", "UNSUP_COMPARISON_OPERATOR"),
    (r"'in' not supported between instances of .*", "UNSUP_IN_OPERATOR"),
    (r"Conditional expression must be dynamic.*", "PHASE_CONDITIONAL_NOT_DYNAMIC"),
    (r"Conditional expression must have exactly one value .*", "TYPE_CONDITIONAL_VALUE_COUNT"),
    (r"iter_args: Elements should be extractable as ir\.Value.*", "TYPE_ITER_ARGS_INVALID"),
    (r"inputs: Elements should be extractable as ir\.Value.*", "TYPE_WHILE_INPUTS_INVALID"),
    (r"User defined max number threads .* contains dynamic expression.*", "CONFIG_MAX_THREADS_DYNAMIC"),
    (r"Unsupported kernel function attribute key .*", "CONFIG_ATTR_KEY_UNSUPPORTED"),
    (r"Unsupported kernel function attribute value type .*", "CONFIG_ATTR_VALUE_TYPE_INVALID"),
    (r"The '\w+' statement encountered a user-defined Python object.*", "TYPE_DYNAMIC_EXPR_UNSUPPORTED"),
    # cutlass_ast_decorators.py
    (r"`\w+` is (?!None )[^`]{1,80} prior to this `\w+`, and update to .*", "TYPE_UNSTABLE_JOIN"),
    (r"`\w+` expects .* type for varible `.*", "TYPE_UNSTABLE_JOIN"),
    (r"`[^`]*` is structured different after this `\w+`.*", "CONTAINER_STRUCTURE_CHANGED"),
    (r"loop attribute `\w+` must be a Python value of type .*", "PHASE_ASSIGN_PYTHON_TO_TRACKED"),
    (r"Then and else blocks of ifexp return different types.*", "TYPE_CONDITIONAL_BRANCH_MISMATCH"),
    (r"expected Int32 for (?:start|stop|step).*", "ARG_WRONG_TYPE"),
    (r"loop attribute `prefetch_stages` must be non-negative.*", "CONFIG_INVALID_VALUE"),
    (r"vectorize is supported for sm_\w+ and above.*", "UNSUP_ARCH"),
)
_UNBOUND = "cannot access local variable NAME where it is not associated with a value"
#: Texts without a code, and what they count as.
TEXTS: tuple[tuple[str, str], ...] = (
    # Verifier of cute.copy: 4.4 says which side, 4.6 calls it S or D for an atom without a direction.
    (
        r"'cute\.copy' op '(!cute[\w.]*)' ptr alignment does not meet requirement",
        r"'cute.copy' op ptr alignment does not meet the requirement of '\1'",
    ),
    (
        r"'cute\.copy' op (?:src|dst|S|D) ptr alignment \(\w+ bits\) does not meet requirement \(\w+ bits\) of atom",
        "'cute.copy' op ptr alignment does not meet the requirement of",
    ),
    # A variable that is first set in a dynamic `if`: its value before was None from 4.2 to 4.5; Python 3.10's words.
    (r"`\w+` is None prior to this `\w+`, and update to .*", _UNBOUND),
    (r"cannot access (?:local|free) variable .*", _UNBOUND),
    (r"local variable '?\w+'? referenced before assignment.*", _UNBOUND),
    # cutlass_ast_decorators.py and ast_helpers.py: 4.5 and 4.2.
    (r"Failed to create scf\.(?:For|While)Op\b.*", "Failed to create dynamic loop"),
    (r"Failed to create dynamic (?:for|while) loop.*", "Failed to create dynamic loop"),
    (r"Failed to create (?:scf\.IfOp|dynamic if).*", "Failed to create dynamic if"),
    (r"range_dynamic should be always preprocessed", "dynamic range should be always preprocessed"),
    # core.py, tuple.py, tensor.py, algorithm.py, nvgpu/common.py: 4.2 to 4.6.
    (r"[Ee]xpect(?:s|ed)? (layout or tensor as input|integer elements in mode|input of type Layout)", r"expects \1"),
    (r"[Ee]xpect(?:s|ed)? tuple for proj", "expects tuple for proj"),
    (r"Struct element only support sturct", "Struct element only support struct"),
    (r"align only can be applied to sturct", "align only can be applied to struct"),
    (r"cannot broadcast .*", "cannot broadcast"),
    (r"All tuple arguments must have the same length.*", "All arguments must be congruent"),
    (r"All arguments must be tuples or all must be non-tuples", "All arguments must be congruent"),
    (r"load & store swizzled memory .*", "vectorized load/store on tensor with composed layout is not supported yet"),
    (r"autovec_copy (?:currently )?only supports equal .*", "autovec_copy only supports equal element widths"),
    (r"expects a 'num_bits_per_copy' kw argument .*", "'num_bits_per_copy' must be a non-negative int"),
    (r"'num_bits_per_copy' must be a non-negative int.*", "'num_bits_per_copy' must be a non-negative int"),
    # pipeline/helpers.py: 4.5 and 4.6.
    (r"Error: NamedBarrier ID must be .*", "NamedBarrier ID must be in range"),
    (r"(?:Error: )?The number of threads in a CooperativeGroup must be .*", "CooperativeGroup must have threads"),
    # tcgen05's N: a multiple of 8 is accepted since 4.3.
    (r"expects the N-mode to satisfy .*", "expects the N-mode to be in range and a multiple"),
)
_REWORDINGS = Rewordings(*CODES, *TEXTS)
# `expects arch to be one of ['sm_100a', 'sm_100f']`, `at least sm_90`: later releases accept more; the first one tells
# the instruction.
_ARCHITECTURES = regex(
    r"expects arch to be (?:one of |at least )?\W{0,4}(?:[A-Za-z_]\w{0,20}\.){0,4}sm_(\d{2,3})[a-z]?\b.{0,1000}"
)
# Since 4.6 an exception of Python's in a kernel is told so, with the host function.
_IN_FUNCTION = regex(r"^\w{2,60}Error in `\w{1,200}`: ")
_LAYOUT = regex(r"!cute\.layout<\"([^\"]{1,1000})\">")
# `(64,(2,?)):(1,(64,?{i64}))`
_SHAPE_AND_STRIDE = regex(r"\([\d(),?_{}*@E divi64-]{0,400}\):\([\d(),?_{}*@E divi64-]{0,400}\)")
_TENSOR = regex(r"\b(?:Fake)?Tensor<[^<>]{1,400}>")


# Releases bind the arguments in another order, and name another one first.
_UNBOUND_ARGUMENT = regex(r"(missing a required) (?:keyword-only )?(argument): .*")


def without_argument(text: str) -> str:
    """The text without the name of an argument that a call lacks. Of Triton's errors the name is part of the bug."""
    return _UNBOUND_ARGUMENT.sub(r"\1 \2", text)


def without_values(text: str) -> str:
    """The text without the layouts, tensors and lists of architectures of one configuration."""
    text = _ARCHITECTURES.sub(r"expects arch to be sm\1", _IN_FUNCTION.sub("", text))
    return _TENSOR.sub("TENSOR", _SHAPE_AND_STRIDE.sub("LAYOUT", _LAYOUT.sub(r"\1", text)))


def reworded(text: str) -> str:
    """The text in the wording that it counts as: a code where later releases have one."""
    return _REWORDINGS.apply(text)


def of_code(code: str, headline: str) -> str:
    """A code, with what tells apart the checks that it covers."""
    subject = _SUBJECTS[code].search(headline) if code in _SUBJECTS else None
    return f"{code} {subject[1]}" if subject else code
