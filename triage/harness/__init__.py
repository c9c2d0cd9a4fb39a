"""Isolation: everything that starts, limits and outlives a process which meets the compiler."""
