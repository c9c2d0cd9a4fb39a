"""What is known of numpy without numpy: constants, and functions of Python's numbers."""

import math
from typing import Any, Callable, Dict

from .placeholders import StandIn


def _function(name: str, function: Callable[..., float]) -> Callable[[Any], Any]:
    """For numbers; arrays are nothing that is known."""

    def compute(value: Any, *arguments: Any, **named: Any) -> Any:
        if type(value) in (bool, int, float) and not arguments and not named:
            return float(function(value))
        return StandIn("numpy.%s(…)" % name, computed=True)

    return compute


FACTS: Dict[str, Any] = {
    **{"numpy." + name: getattr(math, name) for name in ("pi", "e", "inf", "nan")},
    **{"numpy." + name: _function(name, getattr(math, name)) for name in ("log", "log2", "log10", "exp", "sqrt")},
    **{"numpy." + name: _function(name, getattr(math, name)) for name in ("ceil", "floor")},
}
"""By dotted name."""
