"""What may be taken out of a kernel's source: each module proposes steps, none of them compiles anything."""
