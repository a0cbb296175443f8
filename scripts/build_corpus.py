"""Check the source of a data set and write its corpus (see rules/corpus.smk)."""

from pathlib import Path

from verified.common.job import job

with job(snakemake):
    from verified.corpus.assemble import read_source, write_corpus

    corpus = read_source(snakemake.params.source, dict(snakemake.input.items()), snakemake.threads)
    write_corpus(corpus, snakemake.params.splits, Path(snakemake.output.moments).parent)
