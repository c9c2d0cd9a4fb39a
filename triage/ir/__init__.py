"""Readers of printed IR: MLIR and LLVM as text, dumps of the pass managers, and facts that a text declares."""
