"""How likely a parameter is at fault: by what the failing line reads, and by what the message names."""

import re

from triage.suggest.cute.scene import CuteScene

_A_HOP = 0.06
_GUARDS = 0.15
_NOT_REACHED = 0.9
_LINE_UNKNOWN = 0.4
_NAMED = -0.6
_COMMON = frozenset({"block", "size", "type", "dtype", "tile", "mode", "copy", "tensor", "layout", "shape", "kernel"})


def suspicion(scene: CuteScene, name: str) -> float:
    """A penalty, lower for what is likelier at fault."""
    named = _NAMED if _words(name) & _words(scene.text) else 0.0
    if not scene.reach:
        return _LINE_UNKNOWN + named
    reach = scene.reach.get(name)
    if reach is None:
        return _NOT_REACHED + named
    return _A_HOP * reach.hops + (_GUARDS if reach.guards else 0.0) + named


def _words(text: str) -> frozenset[str]:
    """Words of three letters and more, without the ending of a plural: ``ACC_DTYPE`` and ``acc_dtype`` have ``acc``."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)
    return frozenset(word.lower().removesuffix("s") for word in words if len(word) > 2) - _COMMON
