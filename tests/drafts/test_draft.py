"""Configurations of a kernel, from what its source shows and what a worker says of its decorators."""

from __future__ import annotations

from pathlib import Path

from triage.cases.stated import StatedValues
from triage.drafts.draft import drafts
from triage.drafts.model import Basis, JitFunction, Parameter, Value
from triage.harness.description import DescribedConfiguration, KernelDescription
from triage.model.language import Language


def test_blocks_of_descriptors_follow_the_configuration() -> None:
    """As hooks of configurations set them; also where the source makes the parameter a pointer."""
    types = {"a_desc": "tensordesc<bf16[64, 64]>", "b_desc": "*fp32", "c_desc": "tensordesc<fp16[64, 64]>"}
    parameters = tuple(Parameter(name, False, (Value(type_, Basis.USE, "use"),)) for name, type_ in types.items())
    function = JitFunction(Path("kernel.py"), "kernel", 1, Language.TRITON, True, parameters)
    configurations = tuple(
        DescribedConfiguration({}, {}, {}, {"a_desc": (size, 32), "b_desc": (size,)}, {}) for size in (64, 128)
    )
    described = KernelDescription("kernel", Language.TRITON, (), True, (), configurations, 0, ())
    found = [
        {name: value.value for name, value in draft.values.items()}
        for draft in drafts(function, StatedValues(), described)
    ]
    assert found == [
        {"a_desc": f"tensordesc<bf16[{size}, 32]>", "b_desc": f"tensordesc<fp32[{size}]>", "c_desc": types["c_desc"]}
        for size in (64, 128)
    ]


def test_a_divisor_is_drafted_of_what_is_not_given() -> None:
    """An argument that the user states is what they state: without ``--divisible`` it has no divisor."""
    i32 = (Value("i32", Basis.USE, "use"),)
    parameters = tuple(Parameter(name, False, i32, divisible=16) for name in ("m", "n", "k"))
    function = JitFunction(Path("kernel.py"), "kernel", 1, Language.TRITON, True, parameters)
    (draft,) = drafts(function, StatedValues(signature={"m": "i32"}, divisible={"k": 1}))
    assert draft.divisible == {"n": 16, "k": 1}
