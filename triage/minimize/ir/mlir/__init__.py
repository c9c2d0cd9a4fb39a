"""Reduction of MLIR. Each pass module proposes patches of whole lines and parts of lines; none runs anything."""
