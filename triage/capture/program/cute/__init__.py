"""Captures the compiles of CuTe DSL, 4.0 and later; runs inside the user's program, as all of ``program``."""
