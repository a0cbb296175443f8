"""A grounding model with published weights finds the spans of questions (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.search["retrieval"]["threads"]) as log:
    from verified.benchmark.vcmr.experiment import Settings
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.weights.records import source_of
    from verified_rextime.published import ground_as_published
    from verified_rextime.results import submission_rows
    from verified_rextime.rows import read_questions
    from verified_rextime.sources import given_rows

    inputs, params, outputs = snakemake.input, snakemake.params, snakemake.output
    if params.released:
        rows = [row for path in inputs.questions for row in given_rows(read_questions(path))]
    else:
        rows = [row for path in inputs.questions for row in read_jsonl(path) if row["options"]]
        rows = [row for row in rows if params.sources is None or row["source"] in params.sources]
    encoder, _ = source_of(params.encoder, params.revision, inputs.weights)
    files = {"checkpoint": inputs.checkpoint, "video": inputs.video, "text": outputs.text}
    name, search = snakemake.wildcards.published, received(Settings, params.search)
    answers, facts = ground_as_published(name, rows, files, encoder, search)
    write_jsonl(outputs.submission, submission_rows(answers))
    write_json(outputs.facts, facts)
    log.info("%d questions, %d of them about videos without features", facts["questions"], facts["without_features"])
