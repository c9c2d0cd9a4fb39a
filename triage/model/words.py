"""Words that every feature writes alike."""


def count(number: int | str, noun: str) -> str:
    """``1 kernel``, ``2 kernels``, ``no kernels``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
