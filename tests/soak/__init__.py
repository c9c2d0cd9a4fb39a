"""A campaign of misuse: random compiles, environments, kills, files and servers, each against the real command."""

import sys
from pathlib import Path

# Tables of other tests, from which this draws: those of credentials, and of mutated cases.
sys.path += [str(Path(__file__).parents[1] / part) for part in ("publish", "model")]
