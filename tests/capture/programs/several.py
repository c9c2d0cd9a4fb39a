"""Runs several programs in one process, one after another: several.py PROGRAM…"""

import runpy
import sys
from pathlib import Path

for program in sys.argv[1:]:
    sys.argv[1:] = []
    runpy.run_path(str(Path(__file__).with_name(program)), run_name="__main__")
