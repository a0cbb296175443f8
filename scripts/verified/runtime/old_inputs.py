"""Inputs whose modification time triggers no job, for input functions outside the rules."""

from importlib import import_module


def ancient(path: str) -> str:
    """`path` as an input that Snakemake never regards as newer than an output.

    Snakemake is installed where rules are read, but not in every job, so it is imported on demand.
    """
    return import_module("snakemake.io").ancient(path)
