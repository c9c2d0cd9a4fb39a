"""Limits of hardware and language: tables and pure functions, each with its source."""
