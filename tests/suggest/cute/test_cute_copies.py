"""Refused copies, as each release words them, and what the rule says of changes that do not help."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.language import Language
from triage.model.target import Target
from triage.suggest.cute.copies import Refused, refused, unhelpful
from triage.suggest.cute.scene import CuteScene

ASYNC = "!cute_nvgpu.atom.simt_async_copy<bf16, cache = always, 128 b>"
CONTIGUOUS = '!cute.memref<bf16, gmem, align<16>, "((8,1),1,4):((1,0),0,2048)">'
SCATTERED = '!cute.memref<bf16, smem, "((8,1),1,4):((64,0),0,16)">'


def scene(message: str) -> CuteScene:
    case = Case(
        folder=Path(), file="k.py", name="host", signature={}, language=Language.CUTE, target=Target.parse("cuda:80")
    )
    return CuteScene.of(case, "", Diagnosis(Kind.MLIR_DIAGNOSTIC, message, message, stage="verify"), "")


@pytest.mark.parametrize(
    ("message", "copy"),
    [
        (
            f"'cute.copy' op dst ptr alignment (16 bits) does not meet requirement (128 bits) of atom '{ASYNC}'",
            Refused(True, 16, 128, "bf16", True),
        ),
        (
            f"'cute.copy' op '{ASYNC}' ptr alignment does not meet requirement\n"
            f'see current operation: "cute.copy"(%1, %2, %3) : ({CONTIGUOUS}, {SCATTERED}) -> ()',
            Refused(True, 16, 128, "bf16", True),
        ),
        (
            "'cute.copy' op S ptr alignment (32 bits) does not meet requirement (128 bits) of atom "
            "'!cute_nvgpu.atom.universal_copy<f32, 128 b>'",
            Refused(False, 32, 128, "f32", False),
        ),
        (
            "'cute.copy' op '!cute_nvgpu.atom.universal_copy<f16, 128 b>' cannot vectorize copy to 8 elements",
            Refused(False, 16, 128, "f16", False),
        ),
        ("'cute.copy' op src expects global based memref, but got generic", None),
    ],
)
def test_the_copy_that_a_message_is_about(message: str, copy: Refused | None) -> None:
    assert refused(scene(message)) == copy


def test_what_does_not_help_is_told_of_destinations_alone() -> None:
    words = "ptr alignment (16 bits) does not meet requirement (128 bits) of atom"
    assert len(list(unhelpful(scene(f"'cute.copy' op dst {words} '{ASYNC}'")))) == 3
    assert not list(unhelpful(scene(f"'cute.copy' op src {words} '{ASYNC}'")))
