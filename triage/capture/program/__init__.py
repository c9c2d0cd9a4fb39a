"""Runs INSIDE the user's program: standard library only, Python 3.8 syntax, any Triton from 3.0 on, any CuTe DSL
from 4.0 on.

Nothing here prints, raises into the program or imports the rest of triage. ``inject/sitecustomize.py`` loads it under
the name ``_triton_triage_capture`` when the program imports a compiler."""
