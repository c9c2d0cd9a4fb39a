"""Generators of neighbours, one idea a module. Each takes a Scene and yields Proposals; none knows of the others."""
