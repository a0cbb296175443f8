"""Draw recall over K, by length and by position (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.benchmark.vcmr.results import read_per_query
    from verified.figures.queries import draw_curves, draw_lengths, draw_positions, first_spans
    from verified.io.jsonl import read_jsonl

    runs, drawn = snakemake.params.runs, snakemake.output
    models = {name: read_per_query(folders) for name, folders in runs.items()}
    rows = read_jsonl(snakemake.input.annotations)
    draw_curves(models, drawn.curves)
    draw_lengths(models, rows, drawn.lengths)
    spans = {name: first_spans(f"{folders[0]}/submission.json.gz") for name, folders in runs.items()}
    draw_positions(spans, rows, drawn.positions)
    log.info("%d models, %d queries", len(models), len(rows))
