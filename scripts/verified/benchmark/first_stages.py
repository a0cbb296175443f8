"""Who ranks first, and what a video LMM makes of it: their names, in paths and in metrics."""

DENSE, UNTRAINED = "dense", "untrained"
"""Who ranks by vectors in the place of a model, and what it was trained on."""
GROUNDED, RERANKED = "grounded", "reranked"
"""Endings of the names of first stages followed by a video LMM."""


def first_stage(model: str) -> str:
    """The model whose lists a video LMM refined; the model itself without one."""
    for step in (RERANKED, GROUNDED):
        model = model.removesuffix(f"-{step}")
    return model
