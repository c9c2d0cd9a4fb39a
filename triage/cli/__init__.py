"""The command line: parse, call, render. No logic lives here."""
