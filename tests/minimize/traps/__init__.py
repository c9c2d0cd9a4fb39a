"""Kernels with two failures: the one that shows, and another that shows as soon as something is taken away."""
