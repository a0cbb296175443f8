"""Write the caption browser of a data set (see rules/report.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.fig import read_splits
    from verified.io.jsonl import read_jsonl
    from verified.lmm.ledger import Ledger
    from verified.report.captions import about_generated, about_released, generated_rows, released_rows, write_browser

    inputs, drawn, facts = snakemake.input, snakemake.output, snakemake.params.about
    page, parts = Path(drawn.page), Path(drawn.parts)
    annotations = read_splits(inputs.annotations)
    if facts["released"]:
        rows = released_rows(annotations)
        write_browser(page, parts, about_released(facts["title"], facts["origin"], rows), rows)
    else:
        captions = [row for path in inputs.captions for row in read_jsonl(path)]
        scores = [row for path in inputs.scores for row in read_jsonl(path)]
        rows = generated_rows(read_jsonl(inputs.moments[0]), scores, captions, annotations)
        about = about_generated(facts["title"], facts["origin"], rows, facts["chosen_by"], facts["warning"])
        with Ledger(facts["ledger"]) as ledger:
            write_browser(page, parts, about, rows, captions, inputs.keyframes, ledger)
    log.info("%d moments, %d candidates", len(rows), sum(len(row.candidates) for row in rows))
