"""Check the source of a data set and write its corpus (see rules/corpus.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake):
    from verified.corpus.assemble import read_probes, write_corpus
    from verified.corpus.copies import video_copies
    from verified.corpus.folder_source import Reading
    from verified.io.jsonl import read_json

    inputs, probes = snakemake.input, read_probes(snakemake.input.probes)
    corpus = Reading(inputs.videos, inputs.moments, **snakemake.params.source, probes=probes)
    copies = video_copies({video: code for path in inputs.hashes for video, code in read_json(path).items()})
    write_corpus(corpus, snakemake.params.splits, Path(snakemake.output.moments).parent, copies)
