"""Positions of moments and lengths of sentences, by data set."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import read_json
    from verified_longform.figures import draw_datasets, draw_moments, draw_sentences

    statistics = [read_json(path) for path in snakemake.input.statistics]
    groups = [(one["title"], one["all"]["histograms"]) for one in statistics if one["all"]["queries"]]
    draw_moments(groups, snakemake.output.moments)
    draw_datasets(
        [(one["title"], one["all"]) for one in statistics if one["all"]["queries"]], snakemake.output.datasets
    )
    draw_sentences(groups, snakemake.output.sentences)
