"""What the guard costs a training loop, cold and warm, as ratios inside one run: guard_overhead.py [STEPS [ROUNDS]]"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = Path(__file__).parent / "programs" / "training.py"
RUN = [sys.executable, "-m", "triage", "run"]
WAYS = {"plain": [], "run": [*RUN, "--"], "guard": [*RUN, "--guard", "--"]}


def once(way: str, steps: int, cache: str) -> tuple[float, str]:
    """Seconds of wall time, and what the program said of its steps."""
    began = time.perf_counter()
    done = subprocess.run(
        [*WAYS[way], sys.executable, str(PROGRAM), str(steps)],
        env={**os.environ, "TRITON_CACHE_DIR": cache},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = next(line for line in done.stderr.splitlines() if line.startswith("first"))
    return time.perf_counter() - began, f"{done.stdout.strip()}, {said}"


def main(steps: int, rounds: int) -> None:
    """Rounds of all ways in turn; the ratio of their medians."""
    with tempfile.TemporaryDirectory() as folder:
        once("plain", 2, f"{folder}/first")
        seconds: dict[str, list[float]] = {}
        for number in range(rounds):
            for way in WAYS:
                for state in ("cold", "warm"):
                    took, said = once(way, steps, f"{folder}/{way}-{number}")
                    print(f"{way} {state}: {took:.2f} s; {said}", flush=True)
                    seconds.setdefault(f"{way} {state}", []).append(took)
        median = {name: statistics.median(found) for name, found in seconds.items()}
        for state in ("cold", "warm"):
            ratios = {way: round(median[f"{way} {state}"] / median[f"plain {state}"], 4) for way in ("run", "guard")}
            print(state, json.dumps(ratios))


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(*(given + [200, 3][len(given) :]))
