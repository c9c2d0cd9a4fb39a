"""Rules: why the illegal cells of a map are illegal, shortest first."""
