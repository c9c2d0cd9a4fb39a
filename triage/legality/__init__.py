"""What hardware and language allow: tables and pure functions, each with its source beside it."""
