"""Gather the vectors of all distinct captions, each list of a split encoded once (see rules/statistics.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.io.fig import read_splits
    from verified.nn.sentences import weights_digest
    from verified.statistics.embeddings import KINDS, caption_lists, encode_lists, write_embeddings
    from verified.weights.records import source_of

    rows = read_splits(snakemake.input.annotations)
    encoder, revision = snakemake.params.sentences
    source, _ = source_of(encoder, revision, snakemake.input.weights)
    lists = [texts for key in KINDS for texts in caption_lists(rows, key).values()]
    texts, vectors = encode_lists(lists, source, snakemake.params.threads)
    write_embeddings(snakemake.output[0], texts, vectors, encoder, weights_digest(source))
