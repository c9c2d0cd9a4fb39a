"""What a failed compile of a drafted case says: a failure of the kernel, another draft to try, or nothing. Pure.

A failure is the kernel's only if no drafted value may have caused it: the compiler gave up, the kernel asks for what no
argument changes, or everything that the failure depends on is stated by a source. Each rule below is a function that
answers, or leaves the answer to the next.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

from triage.drafts.draft import STATED, Draft
from triage.drafts.model import Basis, Value
from triage.knowledge.observed import missing_api
from triage.model.diagnosis import Diagnosis, Kind, Trait
from triage.model.outcome import Outcome, Stage
from triage.publish.visible import shortened

MOST_CORRECTIONS = 6
"""Of one draft. A refusal by the front end takes a tenth of a second; what these do not mend is
mostly a kernel that needs to be launched with sizes that fit each other."""
_MOST_REASON = 300
_FIXED = frozenset({Basis.GIVEN, Basis.CONFIG, Basis.HEURISTIC})
"""A correction does not change these: a launch could not either."""


@dataclass(frozen=True, slots=True)
class KernelFails:
    """The kernel, or the compiler, fails."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Compile again with these values."""

    changes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Unclear:
    """The failure may come from a drafted value."""

    reason: str


Judgement: TypeAlias = KernelFails | Retry | Unclear


@dataclass(frozen=True)
class Refusal:
    """A failed compile of a draft. ``source``: the text of the kernel's file, as compiled; ``whole``: that of the
    user's file. ``tried``: the drafts that were compiled before."""

    draft: Draft
    outcome: Outcome
    diagnosis: Diagnosis
    source: str
    whole: str
    tried: tuple[Draft, ...] = ()

    @property
    def in_front_end(self) -> bool:
        """Whether Triton's front end refused the kernel, before there was any IR."""
        kinds = (Kind.FRONTEND_ERROR, Kind.PYTHON_EXCEPTION, Kind.MLIR_DIAGNOSTIC, Kind.OTHER, Kind.UNKNOWN)
        return self.diagnosis.kind in kinds and self.outcome.stage in (Stage.SOURCE, None)

    @property
    def raised_by_triton(self) -> bool:
        """Whether the innermost exception was raised in Triton's own code."""
        frames = self.outcome.errors[-1].frames if self.outcome.errors else ()
        return bool(frames) and _TRITONS_OWN.search(frames[-1].file) is not None

    @property
    def message(self) -> str:
        """What the front end says, all exceptions of the chain together."""
        return "\n".join([self.diagnosis.headline, *(error.message for error in self.outcome.errors)])

    @property
    def line(self) -> int | None:
        """The line of the kernel's file at which the front end was."""
        name = self.draft.function.name
        frame = next((error.kernel_line for error in self.outcome.errors if error.kernel_line), None)
        kernel = _kernel(self.source, name)
        if frame is None or kernel is None:
            return None
        if not frame.file:
            return kernel.function.lineno + frame.line - 1  # Of a source that is not known to be a file's.
        return frame.line if frame.function == name else None

    @cached_property
    def related(self) -> list[str]:
        """The parameters on which the failing statement depends, those that it names first; all where the statement is
        not known."""
        kernel = _kernel(self.source, self.draft.function.name)
        if kernel is None or self.line is None:
            return list(self.draft.values)
        if self.unassigned is not None:
            return [name for name in kernel.conditions if name in self.draft.values]
        names = kernel.reaching(_statement_names(kernel.function, self.line), set(self.draft.values))
        return names or list(self.draft.values)

    @property
    def unassigned(self) -> str | None:
        """The variable that is not defined, if the kernel assigns it elsewhere: in a branch that was not taken."""
        kernel, undefined = _kernel(self.source, self.draft.function.name), _UNDEFINED.search(self.message)
        return undefined[1] if kernel is not None and undefined is not None and undefined[1] in kernel.sources else None

    @property
    def guessed(self) -> list[str]:
        """Those of them whose values nobody states."""
        return [name for name in self.related if not self.is_stated(name)]

    def sizes(self, names: list[str]) -> dict[str, int]:
        """Those of the names whose values are drafted numbers that shapes may depend on."""
        values = {name: self.draft.values[name].value for name in names if not self.is_stated(name)}
        return {name: value for name, value in values.items() if type(value) is int and value > 1}

    def is_stated(self, name: str) -> bool:
        """Whether a source or the user states the value of a parameter. Of several launches, or of a launch and a
        default, each states another, which may be meant for other values of other parameters."""
        value = self.draft.values[name]
        if value.value is None and value.basis is not Basis.GIVEN:
            return False  # Whoever passes None, passes it in some launches, or a wrapper fills it in.
        if value.basis not in (Basis.LAUNCH, Basis.DEFAULT) or not value.exact:
            return value.basis in STATED and value.exact
        candidates = next(each.candidates for each in self.draft.function.parameters if each.name == name)
        return sum(candidate.basis in STATED for candidate in candidates) == 1


def judge(refusal: Refusal) -> Judgement:
    """The answer of the first rule that has one; no correction that was tried before."""
    for rule in _RULES:
        if (judgement := rule(refusal)) is not None:
            return judgement
    return KernelFails()


def unclear(refusal: Refusal) -> str:
    """Why a refusal that no correction mends says nothing of the kernel."""
    return f"drafted arguments were refused: {_headline(refusal)}{_line(refusal)}"


def _import_failed(refusal: Refusal) -> Judgement | None:
    """The module failed as it was imported. Only an API that the release lacks, or a decorator that Triton refuses,
    says something about the kernel."""
    if refusal.outcome.imported:
        return None
    of_triton = missing_api(refusal.outcome) or refusal.raised_by_triton
    return KernelFails() if of_triton else Unclear(f"importing it fails: {_headline(refusal)}")


def _of_the_compiler(refusal: Refusal) -> Judgement | None:
    """The compiler crashed, or gave up in its own code: no argument of the right kind may do that."""
    return KernelFails() if refusal.diagnosis.kind.has(Trait.GAVE_UP) else None


def _exhausted(refusal: Refusal) -> Judgement | None:
    """Time or memory ran out, as sizes that nobody uses may make it."""
    if not refusal.diagnosis.kind.has(Trait.EXHAUSTED):
        return None
    large = {
        name: _USUAL_TILE for name, size in refusal.sizes(list(refusal.draft.values)).items() if size > _USUAL_TILE
    }
    if (retry := _retry(refusal, large, "smaller: the compile took too long")) is not None:
        return retry
    return _unless_sized(refusal, "the compile was given up")


def _out_of_resources(refusal: Refusal) -> Judgement | None:
    """More of a resource than there is: smaller tiles, or narrower elements, where nobody states them."""
    if refusal.diagnosis.kind is not Kind.OUT_OF_RESOURCES:
        return None
    sizes = refusal.sizes(list(refusal.draft.values))
    halved = {name: size // 2 for name, size in sizes.items() if size > _LEAST_TILE}
    narrowed = {name: element for name, type_ in _guessed_pointers(refusal) if (element := _NARROWER.get(type_))}
    for changes in (halved, narrowed):
        if changes and (retry := _retry(refusal, changes, "smaller: out of resources")) is not None:
            return retry
    return _unless_sized(refusal, "with drafted sizes it is out of resources")


def _not_of_arguments(refusal: Refusal) -> Judgement | None:
    """The front end refuses what no argument changes: a statement, a global, a part of the API that there is not."""
    if not refusal.in_front_end:
        return None
    exceptions = {refusal.diagnosis.exception, *(error.type for error in refusal.outcome.errors)}
    if missing_api(refusal.outcome) or "UnsupportedLanguageConstruct" in exceptions:
        return KernelFails()
    if "NotImplementedError" in exceptions and refusal.raised_by_triton:
        return KernelFails()  # What a release does not have any more, such as block pointers from 3.9 on.
    if (name := _UNDEFINED.search(refusal.message)) is not None and refusal.unassigned is None:
        if _is_bound(refusal.whole, name[1]):
            return Unclear(f"{name[1]}, which its file has, was not found: {_headline(refusal)}")
        return KernelFails()
    return KernelFails() if _UNSUPPORTED.search(refusal.message) else None


def _front_end(refusal: Refusal) -> Judgement | None:
    """The front end refuses values or types. Values that a source states may be refused; guesses are corrected."""
    in_ttir = refusal.outcome.stage is Stage.TTIR and refusal.diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    if not refusal.in_front_end and not in_ttir:
        return None
    if not refusal.guessed:
        return None
    if len(refusal.tried) < MOST_CORRECTIONS:
        for changes in _corrections(refusal):
            if (retry := _retry(refusal, changes, f"corrected: {shortened(_headline(refusal), 80)}")) is not None:
                return retry
    return Unclear(unclear(refusal))


_RULES: tuple[Callable[[Refusal], Judgement | None], ...] = (
    _import_failed,
    _of_the_compiler,
    _exhausted,
    _out_of_resources,
    _not_of_arguments,
    _front_end,
)
"""In this order."""

_UNDEFINED = re.compile(r"(?:^|NameError[(:] ?[\"']?)(?:name ')?(\w+)'? is not defined", re.MULTILINE)
_UNSUPPORTED = re.compile(
    r"Cannot access global variable|unsupported AST node|is not supported in Triton|Unsupported function"
)
_TRITONS_OWN = re.compile(r"/(?:site-packages|dist-packages|python)/triton/")
"""Files of an installed Triton, or of a checkout of it. Projects have folders of that name too."""
_SAME_TYPE = re.compile(
    r"same (?:data)?type|initial type|re-?assigned|Mismatched type|then block|incompatible (?:types|dtype)"
    r"|must have the same|both operands", re.IGNORECASE
)  # fmt: skip
_POINTER = re.compile(r"pointer|ptr\b|Unsupported ptr|address", re.IGNORECASE)
_SHAPE = re.compile(
    r"power of (?:2|two)|shape|incompatible dimensions|>= ?\d+|rank|numel|number of elements|divisible|block size"
    r"|static_assert|assert|reshape|broadcast|dimension|expand|at least", re.IGNORECASE
)  # fmt: skip
_DIMENSIONS = re.compile(r"(\d+) (?:and|vs\.?|!=) (\d+)")
_OPERANDS = re.compile(r"invalid operands of type|Unsupported \w+ dtype|unexpected type|out of range for type")
_FLOATS = ("fp16", "bf16", "fp32", "fp64")
_INTEGERS = ("i8", "u8", "i32", "i64")
_NARROWER = {"*fp64": "*fp32", "*fp32": "*fp16", "*i64": "*i32"}
_USUAL_TILE = 64
"""With several tiles of this size kernels compile in seconds; a dozen of 1,024 elements a side take minutes."""
_LEAST_TILE = 16
"""Of an operand of a dot, the least that every release takes."""


def _corrections(refusal: Refusal) -> Iterator[dict[str, object]]:
    """Changes that may mend a refusal, the most likely first."""
    message, values = refusal.message, refusal.draft.values
    changeable = [name for name in refusal.related if values[name].basis not in _FIXED]
    pointers, integers = dict(_guessed_pointers(refusal)), dict(_guessed_pointers(refusal, _INTEGERS))
    related = {name: type_ for name, type_ in pointers.items() if name in refusal.related}

    def is_assumed(name: str) -> bool:
        return values[name].basis is Basis.ASSUMED

    if _SAME_TYPE.search(message):
        # Variables become what 32-bit scalars make of them; the operands of a dot are what the others are.
        first = related.values() if "perands" in message else ["*fp32"]
        for element in dict.fromkeys([*first, "*fp32", "*fp16"]):
            yield {name: element for name, type_ in related.items() if type_ != element and is_assumed(name)}
        if "int32" in message:  # an accumulator of 8-bit products
            yield dict.fromkeys(related, "*i8")
        yield dict.fromkeys(integers, "*i32")
        for element in dict.fromkeys([*related.values(), "*fp32"]):
            yield {name: element for name, type_ in pointers.items() if type_ != element}
    if "out_dtype" in message:
        dtypes = [name for name in changeable if str(values[name].value).startswith("tl.")]
        yield dict.fromkeys(dtypes, "tl.float32")
    if _OPERANDS.search(message):
        # What is shifted or masked is an integer: packed operands are 32 bits wide, quantized ones 8.
        nearest = [name for name in refusal.related if name in pointers]
        for name in nearest:
            yield from ({name: other} for other in _others(refusal, name) if str(other).startswith(("*i", "*u")))
        yield dict.fromkeys(nearest[:1], "*i32")
        of_line = [name for name in integers if name in refusal.related]
        yield dict.fromkeys(of_line, "*i8")
        yield dict.fromkeys(of_line, "*fp16")
    if _SHAPE.search(message):
        yield from _resized(refusal)
    if "None" in message:
        changeable.sort(key=lambda name: values[name].value is not None)
        absent = [name for name in values if values[name].value is None and name in changeable]
        yield {name: other for name in absent for other in _others(refusal, name)[:1]}
    others = [(name, candidate) for name in changeable for candidate in _others(refusal, name)]
    if _POINTER.search(message):
        others.sort(key=lambda other: _is_pointer(other[1]) == _is_pointer(values[other[0]].value))
    yield from ({name: candidate} for name, candidate in others)
    if _POINTER.search(message):
        for name in changeable:
            if refusal.draft.is_argument(name) and not _is_pointer(values[name].value):
                yield {name: "*fp32"}
    for element in ("*fp32", "*fp16"):
        yield {name: element for name, type_ in pointers.items() if type_ != element}


def _resized(refusal: Refusal) -> Iterator[dict[str, object]]:
    sizes = refusal.sizes(refusal.related)
    if not sizes:
        return
    yield {name: 1 << (size - 1).bit_length() for name, size in sizes.items() if size & (size - 1)}
    for left, right in _DIMENSIONS.findall(refusal.message):
        for before, after in ((left, right), (right, left)):
            yield {name: int(after) for name, size in sizes.items() if size == int(before)}
    yield {name: _LEAST_TILE for name, size in sizes.items() if size < _LEAST_TILE}
    for size in (64, 32, _LEAST_TILE):
        yield dict.fromkeys(sizes, size)


def _others(refusal: Refusal, name: str) -> list[object]:
    """The values of a parameter's other candidates."""
    parameter = next(parameter for parameter in refusal.draft.function.parameters if parameter.name == name)
    before = repr(refusal.draft.values[name].value)
    return [candidate.value for candidate in parameter.candidates if repr(candidate.value) != before]


def _retry(refusal: Refusal, changes: Mapping[str, object], where: str) -> Retry | None:
    """Unless it changes nothing, or was tried."""
    values = {
        name: Value(value, Basis.ASSUMED, where)
        for name, value in changes.items()
        if repr(value) != repr(refusal.draft.values[name].value)
    }
    draft = refusal.draft.changed(values)
    known = [_values(tried) for tried in (*refusal.tried, refusal.draft)]
    return Retry(values) if values and _values(draft) not in known else None


def _values(draft: Draft) -> list[tuple[str, str]]:
    return [(name, repr(value.value)) for name, value in draft.values.items()]


def _guessed_pointers(refusal: Refusal, elements: Container[str] = _FLOATS) -> Iterator[tuple[str, str]]:
    """The pointers to such elements whose type nobody states."""
    for name, value in refusal.draft.values.items():
        if _is_pointer(value.value) and value.value[1:] in elements and not refusal.is_stated(name):
            yield name, value.value


def _is_pointer(value: object) -> bool:
    return isinstance(value, str) and value.startswith("*")


def _unless_sized(refusal: Refusal, reason: str) -> Judgement:
    """A failure, unless it has a size that nobody states."""
    sizes = refusal.sizes(list(refusal.draft.values))
    names = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return Unclear(f"{reason} ({names}): {_headline(refusal)}") if sizes else KernelFails()


def _headline(refusal: Refusal) -> str:
    return shortened(refusal.diagnosis.headline, _MOST_REASON)


def _line(refusal: Refusal) -> str:
    return f" ({refusal.draft.function.file.name}:{refusal.line})" if refusal.line else ""


def _is_bound(source: str, name: str) -> bool:
    """Whether a file's own statements bind a name, so that a function in it finds it."""
    try:
        waiting: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    while waiting:
        match waiting.pop():
            case ast.FunctionDef(name=bound) | ast.ClassDef(name=bound) | ast.Name(id=bound, ctx=ast.Store()):
                if bound == name:
                    return True
            case ast.alias(name=imported, asname=bound):
                if imported == "*" or name == (bound or imported.partition(".")[0]):
                    return True
            case node:
                waiting += ast.iter_child_nodes(node)
    return False


@dataclass(frozen=True, eq=False, slots=True)
class _Definition:
    """The kernel's definition; ``sources``: the names that each local name is computed from; ``conditions``: those that
    decide which branch is taken."""

    function: ast.FunctionDef
    sources: Mapping[str, list[str]]
    conditions: tuple[str, ...]

    def reaching(self, names: list[str], parameters: set[str]) -> list[str]:
        """The parameters on which names depend through assignments, in any order of these; the nearest first."""
        reached = dict.fromkeys(names)
        waiting = list(reached)
        while waiting:
            for name in self.sources.get(waiting.pop(0), ()):
                if name not in reached:
                    reached[name] = None
                    waiting.append(name)
        return [name for name in reached if name in parameters]


@lru_cache(maxsize=32)
def _kernel(source: str, name: str) -> _Definition | None:
    """The kernel in the text of a file, which is asked for again with each refusal of a draft."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]
    return _Definition(functions[-1], _sources(functions[-1]), _conditions(functions[-1])) if functions else None


def _conditions(function: ast.FunctionDef) -> tuple[str, ...]:
    tests = [node.test for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp)]
    return tuple(dict.fromkeys(name.id for test in tests for name in ast.walk(test) if isinstance(name, ast.Name)))


def _sources(function: ast.FunctionDef) -> dict[str, list[str]]:
    sources: dict[str, list[str]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [(target, value) for target in targets]
            case ast.AugAssign(target=target, value=value) | ast.For(target=target, iter=value):
                pairs = [(target, value)]
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                pairs = [(target, value)]
            case _:
                continue
        for target, value in pairs:
            read = list(dict.fromkeys(name.id for name in ast.walk(value) if isinstance(name, ast.Name)))
            for written in ast.walk(target):
                if isinstance(written, ast.Name):
                    sources.setdefault(written.id, []).extend(read)
    return sources


def _statement_names(function: ast.FunctionDef, line: int) -> list[str]:
    """The names in the innermost statement at a line, then those of the conditions under which it is reached. Of a
    compound one at its head also those of its body: what a variable is after a branch or a loop is refused there."""
    parts: list[ast.AST] = []
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function and node.lineno <= line <= (node.end_lineno or line):
            # Outer statements come first; of these only the condition counts.
            parts = [node, *(part.test if isinstance(part, ast.If | ast.While) else part for part in parts)]
            parts = [part for part in parts if part is node or isinstance(part, ast.expr)]
    return list(dict.fromkeys(name.id for part in parts for name in ast.walk(part) if isinstance(name, ast.Name)))
