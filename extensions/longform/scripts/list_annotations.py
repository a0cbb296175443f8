"""Check the rows of a data set of movies."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.params import received
    from verified.io.jsonl import write_json, write_jsonl
    from verified_longform.config import MovieSet
    from verified_longform.experiment import collect_rows

    usable, excluded, counts = collect_rows(received(MovieSet, snakemake.params.movies), dict(snakemake.input.items()))
    write_jsonl(snakemake.output.rows, usable)
    write_jsonl(snakemake.output.exclusions, excluded)
    write_json(snakemake.output.counts, counts)
    log.info("%s", ", ".join(f"{count} {name}" for name, count in counts.items()))
