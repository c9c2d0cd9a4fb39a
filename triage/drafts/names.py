"""Guesses from the names of parameters: the last resort, one table, each rule with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """What a parameter is."""

    POINTER = "pointer"
    STRIDE = "stride"
    INTEGER = "integer"
    FLOAT = "float"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class NameRule:
    role: Role
    pattern: re.Pattern[str]
    reason: str


def _rule(role: Role, pattern: str, reason: str) -> NameRule:
    return NameRule(role, re.compile(pattern), reason)


RULES = (
    _rule(Role.STRIDE, r"(^|_)strides?(_|$|\d)|stride$", "a stride"),
    _rule(Role.POINTER, r"(^|_)(ptrs?|pointer|desc)$|_ptr_?\d*$|^ptr_|Ptr$", "an address, as in Triton's tutorials"),
    _rule(
        Role.FLAG, r"^(has|use|is|with|do|enable|allow|should|needs?|apply|store|save|return|even)(_|$)", "a question"
    ),
    _rule(Role.FLAG, r"_(enabled|flag|causal|mode)$|^(causal|training|inplace|transpose\w*|reverse\w*)$", "a choice"),
    _rule(
        Role.FLOAT,
        r"(^|_)(eps(ilon)?|scale|alpha|beta\d?|lr|theta|temperature|(soft)?cap|dropout_p|p_drop|momentum|"
        r"weight_decay|smoothing|inv_\w+|coef\w*|gamma|lambda_?|rate|slope|factor)$",
        "a coefficient",
    ),
    _rule(Role.INTEGER, r"^(n|num|nb|max|min|len|size|total|count)_", "a size"),
    _rule(
        Role.INTEGER,
        r"_(size|len|length|cols|rows|dim|dims|num|count|offset|elements|numel|idx|index|per_\w+|heads|blocks|chunks|"
        r"groups|tokens|stages|warps)$",
        "a size",
    ),
    _rule(Role.INTEGER, r"^[nmkNMKBTHDLSZ]$|^(seed|numel|size|length)$", "a size"),
    _rule(Role.INTEGER, r"^(batch|seqlen|seq_len|nheads|headdim|dim|dstate|hidden|vocab|chunk)\w*$", "a size"),
)


def role(name: str) -> NameRule | None:
    """The first rule that a name follows."""
    lower = name.lower() if len(name) > 1 else name
    return next((rule for rule in RULES if rule.pattern.search(name) or rule.pattern.search(lower)), None)


@dataclass(frozen=True, slots=True)
class Size:
    pattern: re.Pattern[str]
    value: int


SIZES = (
    # Of a tile or a chunk: what autotune configurations and launches state most often.
    (r"^num_?warps$", 4),
    (r"^num_?(stages|buffers)$", 2),
    (r"^group_?(size)?_?m$", 8),
    (r"group_?size|quant_?block|^qblock", 128),
    (r"split|^num_(pid|programs|ctas?|sms)|^n?splits?$", 4),
    (r"^(unroll|pack|vec|elem)\w*", 2),
    (r"^b[a-z]{1,2}$|^block|_block$|block_?size|tile|chunk", 64),
    # Of tensors.
    (r"^(b|batch\w*|bs|bsz|nseq\w*|num_seqs?)$", 2),
    (r"^(k|v|d|dk|dv|head_?(dim|size)\w*|dim_?head|d_?head|d_?state|dstate|d_?qk|d_?v|n_state|r|rank)$", 64),
    # Also of a tile for tl.dot, whose operands have at least 16 rows.
    (r"^(h|hq|hv|hk|hkv|n?_?heads?(_\w+)?|num_\w*heads?|kv_heads?)$", 16),
    (r"^(g|groups?|n_?groups)$", 4),
    (r"^(top_?k\w*|kernel_?(size|width)|width|w|conv_?\w*|num_householder|n_iter\w*|iters?|steps?)$", 4),
    (r"^(t|l|s|m|n|seq_?len\w*|\w*tokens?|\w*rows?|q_?len|kv_?len|max_\w*len\w*)$", 1024),
    (r"hidden|vocab|\w*cols?$|features?|^dim$|numel|elements|^n_\w+", 1024),
)  # fmt: skip
"""Usual sizes by name, in lower case: small enough to compile soon, divisible by 16 where tiles are."""
_SIZES = tuple(Size(re.compile(pattern), value) for pattern, value in SIZES)
ANY_SIZE = 64
"""Of whatever has no usual size: a power of two that fits a tile, and that a head has."""


def usual_size(name: str) -> int:
    """A size that is usual for what has this name."""
    lower = name.lower()
    return next((size.value for size in _SIZES if size.pattern.search(lower)), ANY_SIZE)
