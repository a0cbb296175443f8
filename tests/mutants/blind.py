"""All blind mutations and honest variants, in one order. See blind_registry.py."""

from mutants import (  # noqa: F401, I001
    blind_answers,
    blind_masks,
    blind_numbers,
    blind_training,
    blind_state,
    blind_honest,
)
from mutants.blind_registry import HONEST, MUTATIONS, Mutation

__all__ = ["HONEST", "MUTATIONS", "Mutation"]
