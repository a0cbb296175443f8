"""Who ranks first, and what a video LMM makes of it: their names, in paths and in metrics."""

DENSE, UNTRAINED = "dense", "untrained"
"""Who ranks by vectors in the place of a model, and what it was trained on."""
GROUNDED, RERANKED = "grounded", "reranked"
"""Endings of the names of first stages after which a video LMM was asked."""


def first_stage(model: str) -> str:
    """The model whose lists were the first that a video LMM was asked about; the model itself where none was asked."""
    for step in (RERANKED, GROUNDED):
        model = model.removesuffix(f"-{step}")
    return model
