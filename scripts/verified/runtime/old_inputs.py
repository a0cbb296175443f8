"""Inputs whose age starts no job, for input functions outside the rules."""

from importlib import import_module


def ancient(path: str) -> str:
    """`path` as an input that counts as old, whatever its timestamp says.

    Snakemake is there while rules are read, and in no job: it is imported when it is needed.
    """
    return import_module("snakemake.io").ancient(path)
