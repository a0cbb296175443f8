"""Encode each distinct caption once (see rules/statistics.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    from verified.common.fig import read_splits
    from verified.common.sentences import encode, weights_digest
    from verified.statistics.embeddings import distinct, write_embeddings
    from verified.weights.records import source_of

    rows = read_splits(snakemake.input.annotations)
    texts = distinct(row[key] for key in ("cog_desc", "fig_desc") for row in rows if key in row)
    model = snakemake.params.model
    source, _ = source_of(model, snakemake.params.revision, snakemake.input.weights)
    vectors = encode(texts, source, snakemake.params.threads)
    write_embeddings(snakemake.output[0], texts, vectors, model, weights_digest(source), snakemake.params.format)
