"""The fused MoE kernels of vLLM and SGLang, as their tables of configurations name them.

A table's file name is ``E=8,N=14336,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json``
(vLLM, model_executor/layers/fused_moe/fused_moe.py, get_config_file_name; SGLang adds ``_down`` for the second
product). It says the types that the kernel is compiled for; experts and sizes are arguments of a launch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.cases import reproducers
from triage.frontends import documents
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target
from triage.sweeps.lists.devices import tuned_for

REPRODUCER = "fused-moe-over-shared-memory"
_NAME = re.compile(
    r"(?:.*/)?E=\d+,N=\d+,device_name=[^,]+?(?:,dtype=(?P<dtype>\w+?))?"
    r"(?:,block_shape=\[(?P<block>[\d, ]+)\])?(?:_down)?\.json"
)
_FNUZ = ("hip:gfx940", "hip:gfx941", "hip:gfx942")
"""CDNA 3 has fp8 without negative zero; vLLM converts the weights (platforms/rocm.py: is_fp8_fnuz)."""
_GROUP = 128
"""Weights a scale of int4_w4a16, where the file's name does not say."""


@dataclass(frozen=True, slots=True)
class _Quantized:
    """What a ``dtype`` changes of the kernel's case, and which document of the reproducer has that case."""

    operands: Mapping[str, str] = field(default_factory=dict)
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    document: str = "case.json"


_DTYPES = {
    "": _Quantized(),
    "fp8_w8a8": _Quantized({"a_ptr": "*fp8e4nv", "b_ptr": "*fp8e4nv"}, {"use_fp8_w8a8": True}),
    "int8_w8a8": _Quantized({"a_ptr": "*i8", "b_ptr": "*i8"}, {"use_int8_w8a8": True, "per_channel_quant": True}),
    "int8_w8a16": _Quantized({"b_ptr": "*i8"}, {"use_int8_w8a16": True}),
    "int4_w4a16": _Quantized(document="int4.json"),
}


@dataclass(frozen=True, slots=True)
class MoeTable:
    """What a table's file name says. ``target``: the architecture that it was tuned for, None for a GPU that is not
    known; ``block``: rows and columns of the weights that share a scale, None without."""

    target: Target | None
    dtype: str
    block: tuple[int, int] | None

    @classmethod
    def named(cls, name: str) -> MoeTable | None:
        """What this name of a file says; None where it is not that of a fused MoE table."""
        match = _NAME.fullmatch(name)
        if match is None or (match["dtype"] or "") not in _DTYPES:
            return None
        sizes = tuple(int(size) for size in match["block"].split(",")) if match["block"] else ()
        block = (sizes[0], sizes[1]) if len(sizes) == 2 else None
        return cls(tuned_for(name), match["dtype"] or "", block)

    @property
    def kind(self) -> str:
        """Types and blocks, as the file's name spells them."""
        block = "" if self.block is None else f"[{self.block[0]},{self.block[1]}]"
        return f"{self.dtype}{block}"

    @property
    def reproducer(self) -> str:
        """The CASE of ``triage check`` for its kernel."""
        document = _DTYPES[self.dtype].document
        return REPRODUCER if document == _DTYPES[""].document else str(_folder() / document)

    @property
    def base(self) -> Case:
        """That case."""
        return documents.load(_folder() / _DTYPES[self.dtype].document, _folder())

    def case(self, target: Target) -> Case:
        """The kernel as it is compiled for these types, in the configuration of the reproducer."""
        quantized, base = _DTYPES[self.dtype], self.base
        constexprs = {**base.constexprs, **quantized.constexprs}
        if self.block is not None and "group_n" in constexprs:
            constexprs |= {"group_n": self.block[0], "group_k": self.block[1]}
        elif "group_size" in constexprs:
            constexprs["group_size"] = self.block[1] if self.block else _GROUP
        operands = dict(quantized.operands)
        if str(target) in _FNUZ:
            operands = {name: type_.replace("fp8e4nv", "fp8e4b8") for name, type_ in operands.items()}
        signature = {**base.signature, **operands}
        return base.replaced(signature, constexprs, base.divisible, base.options, target)

    def launched(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration as the libraries launch it: a step of K is at most a block of scales."""
        step = values.get("BLOCK_SIZE_K")
        if self.block is None or type(step) is bool or not isinstance(step, int):
            return dict(values)
        return {**values, "BLOCK_SIZE_K": min(step, *self.block)}


def _folder() -> Path:
    folder = reproducers.folder(REPRODUCER)
    if folder is None:
        raise InputError(f"the reproducer {REPRODUCER} is missing; install triage again")
    return folder
