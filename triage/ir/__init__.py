"""Reading printed IR: MLIR and LLVM as text, the dumps of the pass manager, and what a text of IR shows."""
