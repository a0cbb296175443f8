"""Count captions that cannot tell moments apart (see rules/statistics.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.fig import read_splits
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import key_of
    from verified.statistics.clustering import many_to_many
    from verified.statistics.embeddings import Embeddings

    rows = read_splits(snakemake.input.annotations)
    embeddings = Embeddings(snakemake.input.embeddings)
    distance, min_samples = snakemake.params.distance, snakemake.params.min_samples
    result = {
        "dataset": key_of(snakemake.wildcards.dataset),
        "splits": list(dict.fromkeys(row["split"] for row in rows)),
        "missing_splits": list(snakemake.params.missing),
        "encoder": {"name": embeddings.encoder, "sha256": embeddings.weights, "format": str(embeddings.vectors.dtype)},
        "distance": distance,
        "min_samples": min_samples,
    }
    for name, key in (("cog", "cog_desc"), ("fig", "fig_desc")):
        captioned = [row for row in rows if key in row]
        result[name] = many_to_many(captioned, key, embeddings, distance, min_samples)
        log.info("%s: %s classes, %s instances", name, result[name]["classes"], result[name]["instances"])
    write_json(snakemake.output[0], result)
