"""Drafts the cases of a kernel, compiles each, and corrects guessed values that the front end refuses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from triage.cases.slices import sliced
from triage.cases.stated import StatedValues
from triage.drafts import verdict
from triage.drafts.cute import verdict as cute_verdict
from triage.drafts.cute.verdict import lacks_part_of_gpu
from triage.drafts.draft import UNCLEAR, Draft, drafts
from triage.drafts.model import Basis, JitFunction, Value
from triage.drafts.refusal import Refusal
from triage.filesystem import scratch
from triage.frontends.triton import READ_FROM_TTGIR_ON
from triage.harness.description import KernelDescription, described
from triage.harness.dialogues import Dialogue, together
from triage.harness.limits import Limits
from triage.harness.request import Action, Attempt, DescribeKernel, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.compilers import CUTE
from triage.model.diagnosis import Kind
from triage.model.errors import EnvironmentFault, InputError, fault
from triage.model.language import Language
from triage.model.outcome import Outcome, Stage, Undecided
from triage.model.progress import Countdown, Progress
from triage.model.target import Target
from triage.model.words import count

ALL, FIRST = "all", "first"
_JUDGES = {CUTE: cute_verdict.judge}
"""Rules of the compilers that have their own."""
_UNKNOWN_OPTION = re.compile(r"option (\w+) is not known to this back-end")
"""The worker's message (``adapter.check_options``)."""


@dataclass(frozen=True, slots=True)
class Which:
    """Configurations of an autotuned kernel: ``ALL``, ``FIRST``, or a number from 1 on. ``FIRST`` skips those
    that the autotuner would discard as out of resources."""

    text: str = FIRST

    @classmethod
    def parse(cls, text: str) -> Which:
        """The value of ``--config``. Raises InputError."""
        if text in (ALL, FIRST) or (text.isascii() and text.isdigit() and int(text) > 0):
            return cls(text)
        raise InputError(f"--config {text}: write all, first, or the number of a configuration, counted from 1")

    @property
    def is_first(self) -> bool:
        """Whether one configuration stands for the kernel."""
        return self.text == FIRST

    def chosen(self, configured: list[Draft]) -> list[Draft]:
        """Raises InputError where there are fewer."""
        if not self.text.isdigit():
            return configured
        number = int(self.text)
        if number > len(configured):
            name = configured[0].function.name
            numbers = "give 1" if len(configured) == 1 else f"give 1 to {len(configured)}"
            raise InputError(f"--config {number}: {name} has {count(len(configured), 'configuration')}; {numbers}")
        return [configured[number - 1]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One kernel for one target and toolchain. ``base``: the case without values. ``learnt``: corrections that compiled
    for another target, shared by the plans of a kernel."""

    function: JitFunction
    base: Case
    stated: StatedValues
    toolchain: Toolchain
    limits: Limits
    action: Action
    which: Which
    whole: str
    """The text of the user's file."""
    obstacle: str | None = None
    """Why no case can be drafted."""
    other_targets: tuple[Target, ...] = ()
    """To be tried where neither the user nor the source says which GPU, and ``base`` is for one that lacks a part."""
    learnt: dict[str, Value] = field(default_factory=dict)
    number: int = 0
    """Index among the plans of a project."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A draft and its verdict: an attempt, whose failure is the kernel's; or ``unclear``, why nothing is known of the
    kernel. ``draft`` is None where none could be made."""

    plan: Plan
    draft: Draft | None
    case: Case
    attempt: Attempt | None
    unclear: str | None = None
    input_error: bool = False
    """Whether ``unclear`` is due to wrong input, as a configuration that does not exist."""

    @property
    def label(self) -> str:
        """Kernel and configuration."""
        return self.draft.label if self.draft is not None else self.plan.function.name


class Tally:
    """Reports how many configurations of kernels were compiled. ``expected``: kernels times targets; configurations are
    added when they are known."""

    def __init__(self, progress: Progress, expected: int) -> None:
        self._step, self._countdown = progress.step, Countdown(expected)
        self._step(f"drafting and compiling {count(expected, 'kernel')}")

    def configured(self, plan: Plan, configurations: int) -> None:
        """Add the configurations of a plan to the expected number."""
        if configurations > 1:
            self._countdown.expected += configurations - 1
            label = f"{count(configurations, 'configuration')} of {plan.function.name} for {plan.base.target}"
            self._step(f"{self._countdown}: {label}")

    def passed_over(self, draft: Draft, which: str) -> None:
        """Report the next configuration, as an autotuner would skip those before it."""
        self._step(f"{self._countdown}: {which}, {draft.label}")

    def add(self, settled: Settled, configurations: int = 1) -> None:
        """Count a verdict that holds for ``configurations``."""
        self._countdown.done += configurations
        self._step(f"{self._countdown}: {settled.label} for {settled.case.target}")


def settle(plan: Plan, tally: Tally) -> Dialogue[list[Settled]]:
    """The verdicts on the cases of a kernel, at least one. An exception becomes the verdict on this kernel alone."""
    try:
        if plan.obstacle is not None:
            raise EnvironmentFault(plan.obstacle)
        return (yield from _for_a_target(plan, tally))
    except Exception as error:
        return [_fault(plan, error)]


def _fault(plan: Plan, error: Exception) -> Settled:
    reason = fault(error)
    return Settled(plan, None, plan.base, None, str(reason), isinstance(reason, InputError))


def in_order(groups: Iterable[list[Settled]]) -> Iterator[list[Settled]]:
    """Settled plans by number, each as soon as all before it are settled; at an interrupt, those that are settled."""
    due, waiting = 0, dict[int, list[Settled]]()
    try:
        for group in groups:
            waiting[group[0].plan.number] = group
            while due in waiting:
                yield waiting.pop(due)
                due += 1
    except KeyboardInterrupt:
        yield from (waiting[number] for number in sorted(waiting))
        raise


def _for_a_target(plan: Plan, tally: Tally) -> Dialogue[list[Settled]]:
    """The verdicts for the first target that the kernel compiles for, else for the first target."""
    settled = yield from _settled(plan, tally)
    for target in plan.other_targets:
        if not any(each.attempt is not None and lacks_part_of_gpu(each.attempt.diagnosis) for each in settled):
            break
        other = replace(plan, base=replace(plan.base, target=target), other_targets=())
        retried = yield from _settled(other, tally)
        if any(each.attempt is not None and each.attempt.diagnosis is None for each in retried):
            return retried
    return settled


def _settled(plan: Plan, tally: Tally) -> Dialogue[list[Settled]]:
    function = plan.function
    decorated = function.configs or function.heuristics or function.tuners
    description = (yield from _described_by(plan)) if decorated else None
    configured = plan.which.chosen(drafts(function, plan.stated, description))
    if plan.which.is_first:
        # A configuration that the autotuner skips is a failure only if it skips all.
        first: Settled | None = None
        for number, draft in enumerate(configured, start=1):
            if number > 1:
                tally.passed_over(draft, f"configuration {number} of {len(configured)}")
            settled = yield from _compiled(plan, draft)
            first = first or settled
            if not _is_passed_over(settled):
                first = settled
                break
        assert first is not None
        tally.add(first)
        return [first]
    tally.configured(plan, len(configured))
    alike: dict[str, list[Draft]] = {}
    for draft in configured:
        alike.setdefault(_front_end_sees(plan, draft), []).append(draft)
    groups = list(alike.values())
    answers: list[list[Settled]] = []
    # Later groups start from the corrections of the first group that compiles. They do not share their own: a case
    # would depend on which compile ends first.
    while len(answers) < len(groups) and not any(_compiles(each) for group in answers for each in group):
        answers.append((yield from _compiled_alike(plan, groups[len(answers)], tally)))
    answers += yield from together(
        [_compiled_alike(replace(plan, learnt=dict(plan.learnt)), group, tally) for group in groups[len(answers) :]]
    )
    settled_by = {
        id(draft): each
        for group, answer in zip(groups, answers, strict=True)
        for draft, each in zip(group, answer, strict=True)
    }
    return [settled_by[id(draft)] for draft in configured]


def _front_end_sees(plan: Plan, draft: Draft) -> str:
    """A key that is equal for drafts which the stages of a plan's compiles do not distinguish."""
    until = plan.action.until if isinstance(plan.action, PartialCompile) else None
    seen = {name: value.value for name, value in {**draft.values, **draft.options}.items()}
    if until is Stage.TTIR and draft.function.language is Language.TRITON:
        # The names of options count: a back end refuses unknown ones.
        seen |= dict.fromkeys(READ_FROM_TTGIR_ON & draft.options.keys() - draft.values.keys())
    return repr(seen)


def _compiled_alike(plan: Plan, group: Sequence[Draft], tally: Tally) -> Dialogue[list[Settled]]:
    """Compile the first draft of a group, and apply its corrections to the others."""
    draft, *others = group
    try:
        settled = yield from _compiled(plan, draft)
    except Exception as error:
        settled = _fault(plan, error)
    tally.add(settled, len(group))
    current = settled.draft
    if current is None:
        return [settled] * len(group)
    changes = {name: value for name, value in current.values.items() if value is not draft.values[name]}
    answers = [settled]
    for each in others:
        options = {name: value for name, value in each.options.items() if name in current.options}
        corrected = replace(each.changed(changes), options=options)
        origin = {UNCLEAR: settled.unclear} if settled.unclear is not None else {}
        case = corrected.case(settled.plan.base)
        case = replace(case, origin=frozen({**case.origin, **origin}))
        answers.append(replace(settled, draft=corrected, case=case))
    return answers


def _compiles(settled: Settled) -> bool:
    return settled.attempt is not None and settled.attempt.diagnosis is None


def _is_passed_over(settled: Settled) -> bool:
    """Whether an autotuner would go on with its next configuration: triton/runtime/autotuner.py, ``_bench``."""
    diagnosis = settled.attempt.diagnosis if settled.attempt is not None else None
    if diagnosis is None:
        return False
    return diagnosis.kind in (Kind.OUT_OF_RESOURCES, Kind.PTXAS) or diagnosis.exception == "CompileTimeAssertionFailure"


def _described_by(plan: Plan) -> Dialogue[KernelDescription | None]:
    """Description by the kernel's decorators, or by the autotuners that wrap it, with the configurations of all."""
    function, whole = plan.function, None
    for name in function.tuners or (function.name,):
        base = plan.base if name == function.name else sliced(replace(plan.base, name=name))
        description = yield from _described(replace(plan, base=base))
        if description is None:
            return None
        before = whole.configurations if whole is not None else ()
        whole = replace(description, configurations=(*before, *description.configurations))
    return whole


def _described(plan: Plan) -> Dialogue[KernelDescription | None]:
    """Description of the kernel by its decorators; None where its module cannot be imported, as a compile will show.
    Raises EnvironmentFault where the decorators could not be run."""
    (plain,) = drafts(plan.function, plan.stated)
    arguments = {name: _argument(value) for name, value in plain.values.items() if _is_known(value)}
    with scratch.folder("description") as folder:
        action = DescribeKernel(folder / "description.json", arguments)
        attempt: Attempt = yield Request(plain.case(plan.base), plan.toolchain, plan.limits, action)
        answer = described(attempt)
    match answer:
        case KernelDescription():
            return answer
        case Undecided(reason):
            raise EnvironmentFault(reason)
        case Outcome(imported=False):
            return None
        case _:
            headline = attempt.diagnosis.headline if attempt.diagnosis is not None else "they could not be run"
            raise EnvironmentFault(f"its decorators could not be read: {headline}")


def _is_known(value: Value) -> bool:
    """Whether a heuristic may be passed a value: a number that is passed at run time has only a type."""
    return not isinstance(value.value, str) or value.value.startswith(("*", "tl."))


def _argument(value: Value) -> Any:
    is_pointer = isinstance(value.value, str) and value.value.startswith("*")
    return {"pointer": value.value.lstrip("*")} if is_pointer else value.value


def _compiled(plan: Plan, draft: Draft) -> Dialogue[Settled]:
    """Compile a draft, and correct it until it compiles or no correction is left."""
    changes = {name: value for name, value in plan.learnt.items() if draft.values[name].basis is not Basis.USER}
    current = draft.changed(changes)
    tried: tuple[Draft, ...] = ()
    refused: Settled | None = None
    while True:
        case = current.case(plan.base)
        attempt: Attempt = yield Request(case, plan.toolchain, plan.limits, plan.action)
        outcome = attempt.result
        if isinstance(outcome, Undecided):
            if (option := _UNKNOWN_OPTION.match(outcome.reason)) is not None and current.drops(option[1]):
                current = current.without_option(option[1])
                continue
            return refused or _unclear(plan, current, case, None, outcome.reason)
        if attempt.diagnosis is None:
            corrected = {name: value for name, value in current.values.items() if value is not draft.values[name]}
            plan.learnt.update(corrected)
            return Settled(plan, current, case, attempt)
        refusal = Refusal(current, outcome, attempt.diagnosis, case.text(), plan.whole, tried)
        match _judge(refusal):
            case verdict.KernelFails():
                return Settled(plan, current, case, attempt)
            case verdict.Unclear(reason):
                return refused or _unclear(plan, current, case, attempt, reason)
            case verdict.Retry(values):
                # If no correction helps, the first refusal is of the best draft.
                reason = verdict.unclear(refusal)
                refused = refused or _unclear(plan, current, case, attempt, reason)
                tried, current = (*tried, current), current.changed(values)


def _judge(refusal: Refusal) -> verdict.Judgement:
    """The verdict on a refusal by the rules of its compiler."""
    rules = _JUDGES.get(refusal.draft.function.language.compiler, verdict.judge)
    return rules(refusal)


def _unclear(plan: Plan, draft: Draft, case: Case, attempt: Attempt | None, reason: str) -> Settled:
    """A draft whose failure says nothing of the kernel; the case's origin has the reason."""
    return Settled(plan, draft, replace(case, origin=frozen({**case.origin, UNCLEAR: reason})), attempt, reason)
