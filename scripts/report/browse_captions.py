"""Write the caption browser of a data set (see rules/report.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.fig import read_splits
    from verified.io.jsonl import read_jsonl
    from verified.report.captions import generated_rows, released_rows, write_browser

    inputs, drawn = snakemake.input, snakemake.output
    annotations, keyframes = read_splits(inputs.annotations), inputs.get("keyframes", ())
    if keyframes:
        captions, scores = (
            [row for path in paths for row in read_jsonl(path)] for paths in (inputs.captions, inputs.scores)
        )
        rows = generated_rows(read_jsonl(inputs.moments[0]), scores, captions, annotations)
    else:
        rows = released_rows(annotations)
    write_browser(Path(drawn.page), Path(drawn.parts), snakemake.params.about, rows, keyframes)
    log.info("%d moments, %d candidates", len(rows), sum(len(row.candidates) for row in rows))
