"""The names of the rewrite recipes, apart from their code: `triage log` reads entries and rewrites nothing."""

RECIPE_NAMES = ("operand-transposed",)
"""What an entry's ``rewrites`` may name; ``triage.suggest.rewrites.registry`` holds one recipe for each."""
