"""Runs INSIDE the interpreter under test: standard library and Triton only, any Triton from 3.0 on, Python 3.8 on.

Nothing here imports the rest of triage; the rest of triage may import :mod:`wire` (the message format) from here.
The folder is started by path (``python …/worker serve FD``), see ``__main__.py``.
"""
