"""The questions across time on a page, and the ReXTime tables on another (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.jsonl import read_jsonl
    from verified.tables.table import read_table_json
    from verified_rextime.browser import write_question_browser, write_tables_page

    inputs, title = snakemake.input, snakemake.params.title
    rows = {row["qid"]: row for path in (*inputs.questions, *inputs.to_review) for row in read_jsonl(path)}
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    write_question_browser(Path(snakemake.output.page), title, (rows[qid] for qid in sorted(rows)), videos)
    write_tables_page(Path(snakemake.output.tables), title, read_table_json(inputs.tables))
    log.info("%d questions", len(rows))
