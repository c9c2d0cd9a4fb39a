"""Hardware limits that a kernel may compile past, because only the launch checks them.

Offline, Triton emits a binary that asks for 512 KiB of shared memory without a word; ``OutOfResources`` comes when
it is loaded. With the table of architectures (``triage/model/gpus.py``) that failure is seen without a GPU.

``multiprocessor`` says what all blocks on one SM (AMD: compute unit, or WGP on RDNA) share, which is what occupancy
follows from; gfx1250 has no row of it.
"""

import re
from dataclasses import dataclass

from triage.model.errors import InputError
from triage.model.gpus import BlockLimits, Multiprocessor, with_distinct_limits
from triage.model.target import Target


@dataclass(frozen=True, slots=True)
class OverLimit:
    """A limit that is exceeded; ``resource`` is spelled as in Triton's ``OutOfResources``."""

    resource: str
    required: int
    limit: int
    source: str

    def __str__(self) -> str:
        return f"{self.resource}: {self.required} required, {self.limit} is the limit ({self.source})"


def limits(target: Target) -> BlockLimits | None:
    """What a block may use on a target, None where the table does not have it."""
    return target.gpu.block if target.gpu is not None else None


def architecture(target: str | Target) -> tuple[int, str]:
    """Compute capability times ten, and the suffix of its PTX target: ``a`` or ``f`` where the features of the
    architecture or its family are on. Triton's ``cuda:90`` is sm_90a; 0 for what is not an NVIDIA target."""
    text = str(target).strip()
    if match := re.fullmatch(r"sm_?(\d+)([af]?)", text):
        return int(match[1]), match[2]
    try:
        return Target.parse(text).capability or 0, "a"
    except InputError:
        return 0, ""


def multiprocessor(target: Target) -> Multiprocessor | None:
    """What the blocks on an SM or compute unit of a target share, None where the table does not have it."""
    return target.gpu.sm if target.gpu is not None else None


def tabulated() -> tuple[tuple[Target, BlockLimits], ...]:
    """The targets with known limits of a block; of AMD chips with equal limits the first."""
    return tuple((Target(row.backend, row.name), row.block) for row in with_distinct_limits() if row.block is not None)


def multiprocessors() -> tuple[tuple[Target, Multiprocessor], ...]:
    """The targets with known multiprocessors, as ``tabulated``."""
    return tuple((Target(row.backend, row.name), row.sm) for row in with_distinct_limits() if row.sm is not None)


def over_limit(
    target: Target,
    shared_bytes: int = 0,
    threads: int = 0,
    tensor_memory_columns: int | None = None,
    num_ctas: int = 1,
) -> OverLimit | None:
    """The first limit that the launch would report, in the order in which Triton checks them; None within all."""
    row = limits(target)
    if row is None:
        return None
    resources = (
        ("shared memory", shared_bytes, row.shared_bytes),
        ("tensor memory", tensor_memory_columns or 0, row.tensor_memory_columns),
        ("threads", threads, row.threads),
        ("cluster blocks", num_ctas, row.cluster_blocks),
    )
    return next(
        (OverLimit(name, required, limit, row.source) for name, required, limit in resources if required > limit),
        None,
    )
