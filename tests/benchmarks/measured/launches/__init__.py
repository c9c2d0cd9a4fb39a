"""How each kernel of ``kernels/`` is launched."""

from measured.launches import attention, elements, matmul, rows
from measured.launches.launch import Launch

LAUNCHES: tuple[Launch, ...] = (*matmul.LAUNCHES, *attention.LAUNCHES, *rows.LAUNCHES, *elements.LAUNCHES)
"""In the order in which they are timed."""
