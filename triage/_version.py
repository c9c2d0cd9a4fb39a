"""The one place where the version lives besides pyproject.toml (a test keeps the two equal)."""

__version__ = "0.1.0"
