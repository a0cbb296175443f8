"""Project the captions that cluster when coarse, before and after (see rules/statistics.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.fig import read_splits
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import key_of
    from verified.statistics.clustering import projection
    from verified.statistics.embeddings import Embeddings

    params = snakemake.params
    result = projection(
        read_splits(snakemake.input.annotations),
        Embeddings(snakemake.input.embeddings),
        params.distance,
        params.min_samples,
        params.seed,
    )
    log.info("%d coarse classes of %d instances", result["classes"], result["instances"])
    write_json(snakemake.output[0], {"dataset": key_of(snakemake.wildcards.dataset), **result})
