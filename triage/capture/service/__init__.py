"""The process that compiles for guarded programs: in isolation, with their interpreter, asked over a socket."""
