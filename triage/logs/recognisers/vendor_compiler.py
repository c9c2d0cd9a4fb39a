"""A back end outside of Triton's repository calls a compiler of its own, which failed.

Such back ends keep the words of Triton's call of ptxas: ```llc` failed with error code -11``. Intel's compiler, in the
driver, names the kernel below its error: ``error: bf16 is not supported!``, ``in kernel: 'add_kernel'``; or, with the
function, ``in function: 'exp2(float)' called by kernel: 'add_kernel'``; or before it,
``error: in kernel 'add_kernel': total scratch space exceeds HW supported limit``.
"""

from itertools import islice

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.signals import ended_by, of_exit_code
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_FAILED = regex(r"`(?P<program>(?!ptxas)[\w.+/-]{2,80})` failed with error code (?P<code>-?\d{1,12})")
_REFUSED = regex(r"^error: (?P<reason>\S.{1,1000})$")
_BEFORE = regex(r"^error: in kernel:? '(?P<kernel>.{1,400}?)': (?P<reason>\S.{1,1000})$")
_KERNEL = regex(r"^in (?:kernel: '|function: '.{1,400}' called by kernel: ')")
#: Lines of an error that may stand between it and the kernel's name.
_NEAR = 2


def _read(window: Window) -> Finding | None:
    failed = _FAILED.search(window.line)
    if failed is None:
        return _of_driver(window)
    cause = of_exit_code(failed["code"])
    kind = ended_by(cause, "").kind if cause is not None else Kind.ASSEMBLER
    headline = f"{failed['program']} of a vendor's back end failed with exit code {failed['code']}"
    return finding(window, kind, headline, specificity=Specificity.SYMPTOM)


def _of_driver(window: Window) -> Finding | None:
    if stated := _BEFORE.match(window.line.strip()):
        return finding(window, Kind.ASSEMBLER, stated["reason"], f"{stated[0]}\nin kernel: '{stated['kernel']}'")
    refused = _REFUSED.match(window.line.strip())
    below = [line.strip() for line in islice(window.after, _NEAR)]
    named = next((number for number, line in enumerate(below, 1) if _KERNEL.match(line)), None)
    if refused is None or named is None:
        return None
    message = "\n".join([refused[0], *below[:named]])
    return finding(window, Kind.ASSEMBLER, refused["reason"], message, extent=named)


RECOGNISER = Recogniser(
    anchors=("` failed with error code", "error: "),
    read=_read,
    examples={
        "RuntimeError: `llc` failed with error code -11": Kind.SEGFAULT,
        "RuntimeError: `llc` failed with error code 1": Kind.ASSEMBLER,
        "error: bf16 is not supported!\nin kernel: 'add_kernel'": Kind.ASSEMBLER,
        "error: in kernel 'k': total scratch space exceeds HW supported limit: 3 bytes (max 2 bytes)": Kind.ASSEMBLER,
        "error: undefined reference to `exp2'\nin function: 'f(int)' called by kernel: 'k'": Kind.ASSEMBLER,
    },
)
