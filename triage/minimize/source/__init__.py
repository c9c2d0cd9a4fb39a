"""Reduction of a kernel's source and configuration. Each pass module proposes patches; none compiles anything."""
