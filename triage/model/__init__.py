"""The values that every feature works on: cases, outcomes, diagnoses, reports. Nothing here imports a feature."""
