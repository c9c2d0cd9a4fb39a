"""MLIR as text: read as lines that make operations, made smaller by operation, attribute, shape and layout."""
