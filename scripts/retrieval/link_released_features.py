"""Link features that are given as files, or are in shards (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.hdf5 import link_features

    link_features(snakemake.output.features, snakemake.input, {})
