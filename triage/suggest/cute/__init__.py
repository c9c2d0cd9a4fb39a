"""Neighbours of failing CuTe DSL cases: changes of configuration, and what they mean."""
