"""Replaces ld.lld: ``link.py LIBTRITON -flavor gnu -shared INPUT -o OUTPUT``, or ``--version``.

Loads the library of a Triton that has lld built in, without importing that Triton, and links with it.
"""

import importlib.machinery
import importlib.util
import sys
from typing import Any, List

_WITH_VALUE = ("-flavor", "-o")


def main(library: str, arguments: List[str]) -> None:
    """Link, or print the version."""
    if "--version" in arguments:
        print("LLD, built into %s" % library)
        return
    inputs = [
        word
        for before, word in zip(["", *arguments], arguments)  # noqa: B905 - strict= is Python 3.10's
        if not word.startswith("-") and before not in _WITH_VALUE
    ]
    _load(library).amd.link_hsaco(inputs[0], arguments[arguments.index("-o") + 1])


def _load(library: str) -> Any:
    loader = importlib.machinery.ExtensionFileLoader("libtriton", library)
    spec = importlib.util.spec_from_file_location("libtriton", library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
