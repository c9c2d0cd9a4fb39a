"""Operands of the ``triton.language`` function that raised an error, whose text often does not state their types.

Types and static shapes only: the values of local variables are the user's.
"""

import os
from typing import Any, Dict, List, Optional

from . import placeholders

_MOST = 8
_MOST_TEXT = 120
"""Characters of a type: a Gluon layout may be long."""
_MOST_RANK = 8
_LANGUAGE = os.sep + "language" + os.sep
_COMPILER = os.sep + "compiler" + os.sep
_SHAPES = ("block_shape",)
"""Arguments that are a shape. The sizes of a block are part of its type."""


def of(error: BaseException) -> Dict[str, Any]:
    """``operation``, the innermost function of the language that had operands, and ``operands`` with ``name``, ``type``
    in Triton's spelling and ``shape`` (empty: a scalar); nothing for an error that was raised elsewhere."""
    frames: List[Any] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        file = frame.f_code.co_filename
        if not placeholders.is_tritons(file) or _COMPILER in file:
            break
        named = ((name, frame.f_locals[name]) for name in frame.f_code.co_varnames if name in frame.f_locals)
        operands = [described for name, value in named for described in [_operand(name, value)] if described]
        if operands and _LANGUAGE in file:
            return {"operation": frame.f_code.co_name, "operands": operands[:_MOST]}
    return {}


def _operand(name: str, value: Any) -> Optional[Dict[str, Any]]:
    from triton.language import core

    if name.startswith("_"):
        return None
    if name in _SHAPES:
        return {"name": name, "type": "", "shape": _shape(value)}
    type_ = value if isinstance(value, core.dtype) else _type(value)
    if isinstance(type_, core.dtype):
        scalar = type_.scalar if type_.is_block() else type_
        return {"name": name, "type": str(scalar)[:_MOST_TEXT], "shape": _shape(getattr(type_, "shape", ()))}
    return None


def _type(value: Any) -> Any:
    """The type of a tensor; of a descriptor that of its block."""
    if type(value).__module__.partition(".")[0] != "triton":
        return None
    type_ = getattr(value, "type", None)
    return getattr(type_, "block_type", type_)


def _shape(sizes: Any) -> List[int]:
    sizes = [getattr(size, "value", size) for size in tuple(sizes)[:_MOST_RANK]]
    return sizes if all(isinstance(size, int) for size in sizes) else []
