"""Data sets by folder: the rules' wildcard `dataset` is NAME, or NAME/DATASET (see `config.folders`)."""


def key_of(wildcard: str) -> str:
    """The key of the data set that a value of the wildcard `dataset` refers to."""
    return wildcard.rsplit("/", 1)[-1]
