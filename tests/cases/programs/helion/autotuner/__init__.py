"""Stands in for Helion: its autotuner's way with configurations that fail, without torch and GPU."""
