"""The languages that kernels are written in."""

from enum import Enum

from triage.model.compilers import CUTE, TRITON, Compiler

_TRITON_OPTIONS = frozenset(
    {"num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug", "default_dot_input_precision"}
)
_CUTE_OPTIONS = frozenset({"arch", "opt_level", "ptxas_options"})


class Language(str, Enum):
    """The language a kernel is written in."""

    TRITON = "triton"
    GLUON = "gluon"
    CUTE = "cute"

    @property
    def compiler(self) -> Compiler:
        """What compiles it."""
        return CUTE if self is Language.CUTE else TRITON

    @property
    def options(self) -> frozenset[str]:
        """Options that exist on every release and may be added to a case that does not state them."""
        return _CUTE_OPTIONS if self is Language.CUTE else _TRITON_OPTIONS
