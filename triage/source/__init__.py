"""Python source toolkit: reading a kernel, format-preserving edits, a package copy with one file replaced."""
