"""What a constexpr may be, in every language."""

import math
from typing import Any


def check_constant(value: Any, bad: Any) -> None:
    """A constexpr is what JSON can hold and a compiler can represent: text, booleans, numbers, null, lists of these."""
    match value:
        case None | bool() | str():
            return
        case int() if -(1 << 63) <= value < 1 << 64:
            return
        case int():
            raise bad("does not fit into 64 bits")
        case float() if math.isfinite(value):
            return
        case float():
            raise bad(f"{value} is not a number that JSON can hold")
        case list():
            for item in value:
                check_constant(item, bad)
        case _:
            raise bad(f"a {type(value).__name__} cannot be a constexpr here")
