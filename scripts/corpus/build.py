"""Check the source of a data set and write its corpus (see rules/corpus.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake):
    from verified.corpus.assemble import read_probes, read_source, write_corpus
    from verified.corpus.copies import video_copies
    from verified.io.jsonl import read_json

    files = {name: snakemake.input[name] for name in ("videos", "moments")}
    corpus = read_source(snakemake.params.source, files, probes=read_probes(snakemake.input.probes))
    copies = video_copies({video: code for path in snakemake.input.hashes for video, code in read_json(path).items()})
    write_corpus(corpus, snakemake.params.splits, Path(snakemake.output.moments).parent, copies)
