"""AMD's assembler or linker rejects what the code generator wrote.

``triton-amdgpu-assembler:83:13: error: invalid instruction`` (3.9), ``<stdin>:83:2: error: …``, or on older
releases just ``error: invalid instruction``; ``ld.lld: error: undefined hidden symbol: …``.
"""

from triage.logs.diagnostic_lines import is_caret
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = regex(
    r"^(?:triton-amdgpu-assembler|<stdin>|[^\s:]{1,400}\.(?:s|S|amdgcn|asm)):\d{1,9}(?::\d{1,7})?"
    # not of an operation, whose text begins with its name: `'tt.dot' op …`
    r": error: (?!'\w{1,60}\.[\w.]{1,100}' op )(?P<text>\S.{0,2000})"
)
_LINKER = regex(r"^(?:[\w./-]{0,400})?(?:ld\.lld|lld|ld64\.lld): error: (?P<text>\S.{0,2000})")
# The assembler's vocabulary, for the releases that print no file.
_BARE = regex(
    r"^(?:<unknown>:0: )?error: (?P<text>(?:invalid instruction|invalid operand for instruction|not a valid operand"
    r"|instruction not supported on this GPU|operands are not valid for this GPU|too few operands|too many operands"
    r"|unknown token in expression|unexpected token|expected relocatable expression|invalid register"
    r"|register index is out of range|specified hardware register|failed parsing operand).{0,500})"
)
# PTX's instructions have dots and a type, `cvt.rn.f16x2.f32`; AMD's have underscores, `v_bfe_u32`.
_PTX = regex(
    r"^\s{0,40}(?:@!?%\w{1,20} )?[a-z][a-z0-9]{1,12}(?:\.\w{1,16}){0,6}"
    r"\.(?:[subf](?:8|16|32|64)|b1|pred|f16x2|bf16x?2?)\b"
)
_REFUSED = regex(r"(?P<text>AMD assembler rejected .{1,200}|AMDGPU assembl\w{1,8} failed.{0,200})")


def error_text(line: str) -> str | None:
    """The text of the assembler's or linker's error in the line."""
    match = _STATED.match(line) or _LINKER.match(line) or _BARE.match(line)
    return match["text"].strip() if match else None


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    error = error_text(line)
    specificity = Specificity.DIAGNOSTIC
    if error is None:
        if (refused := _REFUSED.search(line)) is None or line.startswith(("raise ", "File ")):
            return None
        error, specificity = refused["text"], Specificity.TAIL
    excerpt = [window.after[0]] if len(window.after) > 1 and is_caret(window.after[1]) else []
    shown = f"{error}: {excerpt[0].strip()}" if excerpt else error
    is_ptx = bool(excerpt) and _PTX.search(excerpt[0]) is not None
    headline = f"PTX given to an AMD target: {shown}" if is_ptx else f"The assembler refused the code: {shown}"
    return finding(window, Kind.ASSEMBLER, headline, "\n".join([line, *excerpt]), specificity, stage="hsaco")


RECOGNISER = Recogniser(
    anchors=("error: ", "AMD assembler", "AMDGPU assembl"),
    read=_read,
    examples={
        "triton-amdgpu-assembler:83:13: error: invalid instruction": Kind.ASSEMBLER,
        "error: invalid instruction\n    bfe.s32 s3, v3, 0, 4;\n    ^": Kind.ASSEMBLER,
        "ld.lld: error: undefined hidden symbol: f": Kind.ASSEMBLER,
    },
)
