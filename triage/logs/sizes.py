"""The arithmetic of a refused tile, from the numbers that the refusal itself states."""

from collections.abc import Iterator

from triage.logs.patterns import regex
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.setting import Setting

_SIZES = r"\[((?:(?:constexpr\[)?'?\d{1,9}'?\]?(?:, )?){2,3})\]"
# Up to 3.1; from 3.2 on the text has the least sizes only.
_DOT = regex(
    rf"All (?:non-batch )?values in both first input shape \({_SIZES}\) and second input shape \({_SIZES}\)"
    r" must be >= (\d{1,4})"
)
# make_tensor_descriptor, from 3.4 on.
_ROW = regex(r"at least (\d{1,3}) bytes in the last dimension, but got (\d{1,9}) \* (\d{1,2}) = \d{1,12} bytes")
_NUMBER = regex(r"\d{1,9}")


def arithmetic(diagnosis: Diagnosis, setting: Setting) -> Iterator[str]:
    """Notes on a refusal of ``tl.dot`` or of a descriptor: which size is too small, and the command that explains it.
    ``setting``: its GPU and release are those of the command."""
    if diagnosis.kind is not Kind.FRONTEND_ERROR:
        return
    if dot := _DOT.search(diagnosis.message):
        (m, k), n = _sizes(dot[1])[-2:], _sizes(dot[2])[-1]
        small = [f"{name} = {size}" for name, size in (("M", m), ("N", n), ("K", k)) if size < int(dot[3])]
        # The command knows no release before 3.0.
        release = f" --triton {setting.triton}" if (setting.triton or "").startswith("3.") else ""
        target = f" --target {setting.targets[0]}" if len(setting.targets) == 1 else ""
        yield f"tl.dot of M = {m}, N = {n}, K = {k}: too small {'is' if len(small) == 1 else 'are'} {', '.join(small)}"
        yield f"explained by: triage explain dot --m {m} --n {n} --k {k} --a TYPE{target}{release}"
    elif row := _ROW.search(diagnosis.message):
        least, columns, size = map(int, row.groups())
        yield f"a row of the block has {columns} elements of {size} B, and a descriptor takes {least // size} or more"
        yield f"explained by: triage explain tma --dtype TYPE --box ROWSx{columns}"


def _sizes(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]
