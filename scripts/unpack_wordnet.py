"""Unpack WordNet for METEOR (see rules/longform_statistics.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.longform.wordnet import unpack_wordnet

    unpack_wordnet(snakemake.input.archive, snakemake.output.folder)
