"""What a release and a kernel's decorators say of the kernel: the answer to ``DescribeKernel``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triage.filesystem.files import MOST_DOCUMENT, read_file
from triage.harness.request import Attempt, DescribeKernel
from triage.model.document import decode
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.outcome import Outcome, Undecided


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """A parameter as Triton sees it.

    ``annotation``: the type that it states, as in a signature (``i32``), or "". ``default``: as a value of a case;
    None as well where there is none (``has_default``), or where it cannot be such a value (``default_problem``).
    ``do_not_specialize``: the launcher makes no constant of a 1; ``do_not_specialize_on_alignment``: nor looks at
    divisibility by 16, to which the former extends.
    """

    name: str
    constexpr: bool
    annotation: str
    has_default: bool
    default: Any
    default_problem: str
    do_not_specialize: bool
    do_not_specialize_on_alignment: bool


@dataclass(frozen=True, slots=True)
class DescribedConfiguration:
    """What the decorators give to a launch.

    ``arguments``: of the kernel's parameters, by autotune. ``options``: all else that they state (``num_warps``).
    ``heuristics``: parameters' values that were computed from the arguments of the request. ``blocks``: of tensor
    descriptors that a ``pre_hook`` sets. ``unknown``: by name, what could not be computed, or cannot be a value of a
    case, and why.
    """

    arguments: Mapping[str, Any]
    options: Mapping[str, Any]
    heuristics: Mapping[str, Any]
    blocks: Mapping[str, tuple[int, ...]]
    unknown: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class KernelDescription:
    """A jitted function and its decorators.

    ``name``: that of the function, which may be in the module under another. ``configurations``: those of autotune, in
    its order, or the only one; ``left_out`` more were not described. ``key``: names that autotune lists as its key.
    ``notes``: what decorators would do and what was not done.
    """

    name: str
    language: Language
    parameters: tuple[DescribedParameter, ...]
    autotuned: bool
    key: tuple[str, ...]
    configurations: tuple[DescribedConfiguration, ...]
    left_out: int
    notes: tuple[str, ...]


def described(attempt: Attempt) -> KernelDescription | Outcome | Undecided:
    """The answer to a ``DescribeKernel`` request; the attempt's own result where there is none (the module raises, for
    example)."""
    action, result = attempt.request.action, attempt.result
    assert isinstance(action, DescribeKernel)
    if isinstance(result, Undecided) or result.failed:
        return result
    try:
        document = json.loads(read_file(action.to, action.to.parent, MOST_DOCUMENT))
        return decode(KernelDescription, document, "description", exact=True)
    except (OSError, ValueError, RecursionError, InputError) as error:
        return Undecided(f"{attempt.request.case.file}: its description cannot be read: {error}")
