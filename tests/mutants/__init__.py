"""Subtly broken copies of the five models: each mutation is put into one of those that it can break.

`mutants()` gives them all; `killed_by` says which check of the conformance kit finds one out. The mutations stand in
the order of the imports below.
"""

from mutants import of_encodings, of_answers, of_losses, of_states  # noqa: F401, I001
from mutants.registry import ALL, MUTATIONS, Mutant, killed_by, mutants

__all__ = ["ALL", "MUTATIONS", "Mutant", "killed_by", "mutants"]
