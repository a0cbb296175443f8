"""Link features that are given as files (see rules/retrieval.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.hdf5 import link_features

    link_features(snakemake.output.features, [snakemake.input.given], {})
