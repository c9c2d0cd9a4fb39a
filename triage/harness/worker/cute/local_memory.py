"""Contents of a thread's local memory: spilled values, and arrays with dynamic indices.

ptxas lays a frame out with PTX's own variables (``__local_depot``) first and spilled values behind them, which are
accessed at constant offsets from R1. Pure functions of text.
"""

import re
from typing import Any, Dict, List, Optional, Tuple

_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_DEPOT = re.compile(r"\.local\s+\.align\s+\d+\s+\.b8\s+__local_depot\d+\[(\d+)\]")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+")
_FIXED = re.compile(r"\b(?:mov|add|cvta\.local)\.[bus]64\s+(%\w+), (%\w+|__local_depot\d+)(?:, -?\d+)?;")
"""An address at a constant offset from another."""
_INDEXED = re.compile(r"\b(?:ld|st)\.local\.[\w.]+\s.*?\[(%\w+)(?:\+-?\d+)?\]")
_FUNCTION = re.compile(r"^\s*Function : (\S+)")
_ACCESS = re.compile(r"\b(STL|LDL)((?:\.\w+)*) .*?\[([^\]]*)\]")
_IN_FRAME = re.compile(r"R1(?:\.64)?(?:\+0x([0-9a-f]+))?$")
_WIDTHS = (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("16", 2), ("U8", 1), ("S8", 1), ("8", 1))
_WIDTH = 4
"""Bytes, where the instruction states no other width."""


def arrays(ptx: str) -> Dict[str, Dict[str, Any]]:
    """By kernel: ``bytes`` of arrays in local memory; ``file`` and ``line`` of the first access with an index that is
    not constant, None where there is none."""
    files = dict(_FILE.findall(ptx))
    parts = _ENTRY.split(ptx)
    return {parts[at]: _array(parts[at + 1], files) for at in range(1, len(parts), 2)}


def _array(body: str, files: Dict[str, str]) -> Dict[str, Any]:
    fixed: Dict[str, None] = {}
    location: Tuple[Optional[str], Optional[str]] = None, None
    size = sum(int(number) for number in _DEPOT.findall(body))
    for line in body.splitlines() if size else ():
        loc, address, access = _LOC.match(line), _FIXED.search(line), _INDEXED.search(line)
        if loc:
            location = loc.group(1), loc.group(2)
        elif address and (address.group(2).startswith("__local") or address.group(2) in fixed):
            fixed[address.group(1)] = None
        elif access and access.group(1) not in fixed and location[1]:
            return {"bytes": size, "file": files.get(location[0] or ""), "line": int(location[1])}
    return {"bytes": size, "file": None, "line": None}


def spilled(sass: str, own: Optional[Dict[str, Dict[str, Any]]]) -> Optional[int]:
    """Bytes of the instructions that store spilled values, or that load them, if those are more, as ptxas counts them:
    of the kernel with most. ``own``: what :func:`arrays` returns, None where there is no PTX. None where an array
    cannot be told from what is spilled."""
    most = 0
    for name, accesses in _accesses(sass).items():
        size = own.get(name, {"bytes": 0})["bytes"] if own is not None else 0
        counted = {"STL": 0, "LDL": 0}
        for operation, width, address in accesses:
            match = _IN_FRAME.match(address)
            if match is None and own is None:
                return None
            if match is not None and int(match.group(1) or "0", 16) >= size:
                counted[operation] += width
        most = max(most, *counted.values())
    return most


def _accesses(sass: str) -> Dict[str, List[Tuple[str, int, str]]]:
    """By kernel: operation, bytes and address of each access to local memory."""
    accesses: Dict[str, List[Tuple[str, int, str]]] = {}
    name = ""
    for line in sass.splitlines():
        function, access = _FUNCTION.match(line), _ACCESS.search(line)
        if function:
            name = function.group(1)
        elif access:
            accesses.setdefault(name, []).append((access.group(1), _width(access.group(2)), access.group(3)))
    return accesses


def _width(suffixes: str) -> int:
    stated = suffixes.split(".")
    return next((width for suffix, width in _WIDTHS if suffix in stated), _WIDTH)
