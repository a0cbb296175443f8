"""The demo's questions across time against its truth (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified_rextime.validity import judge

    truth = {row["video"]: row["events"] for path in snakemake.input.truth for row in read_jsonl(path)}
    questions = [row for path in snakemake.input.questions for row in read_jsonl(path)]
    fates = [row for path in snakemake.input.fates for row in read_jsonl(path)]
    write_jsonl(
        snakemake.output.rows,
        judge(
            [row for row in questions if row["vid"] in truth],
            [row for row in fates if "query" in row and row["vid"] in truth],
            truth,
        ),
    )
