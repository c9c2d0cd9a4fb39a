"""Runs INSIDE the user's program: standard library only, Python 3.8 syntax, any Triton from 3.0 on.

Nothing here prints, raises into the program or imports the rest of triage. Loaded by ``inject/sitecustomize.py`` when
the program imports Triton's compiler, under the name ``_triton_triage_capture``.
"""
