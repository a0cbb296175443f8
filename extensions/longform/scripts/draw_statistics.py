"""Positions of moments and lengths of sentences, by data set."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import read_json
    from verified_longform.figures import draw_datasets, draw_moments, draw_sentences

    statistics = [read_json(path) for path in snakemake.input.statistics]
    groups = [(entry["title"], entry["all"]["histograms"]) for entry in statistics if entry["all"]["queries"]]
    draw_moments(groups, snakemake.output.moments)
    draw_datasets(
        [(entry["title"], entry["all"]) for entry in statistics if entry["all"]["queries"]], snakemake.output.datasets
    )
    draw_sentences(groups, snakemake.output.sentences)
