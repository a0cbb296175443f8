"""One file of links over shards of frame features."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.hdf5 import link_features

    log.info("%d movies", link_features(snakemake.output.features, snakemake.input.shards, {}))
