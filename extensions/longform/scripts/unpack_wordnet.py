"""Unpack WordNet for METEOR."""

from verified.runtime.job import job

with job(snakemake):
    from verified_longform.wordnet import unpack_wordnet

    unpack_wordnet(snakemake.input.archive, snakemake.output.folder)
