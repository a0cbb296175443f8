"""Adjudicate the decisions of all reviewers (see rules/adjudication.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import SCORE_KEYS, candidates_by_moment
    from verified.config.annotations import Lint
    from verified.config.params import received
    from verified.errors import InputError
    from verified.io.jsonl import read_jsonl, write_json
    from verified.people.review.adjudicate import adjudicate
    from verified.people.review.agreement import agreement
    from verified.people.review.decisions import read_decisions
    from verified.people.review.edits import check_edits
    from verified.people.review.tables import review_tables
    from verified.runtime.wildcards import key_of
    from verified.tables.table import write_table_json

    inputs, settings = snakemake.input, snakemake.params
    moments = read_jsonl(inputs.moments)
    groups = candidates_by_moment(moments, [row for path in inputs.scores for row in read_jsonl(path, SCORE_KEYS)])
    decisions = read_decisions(inputs.review)
    for row in decisions:
        if row["dataset"] not in settings.datasets:
            known = ", ".join(settings.datasets)
            raise InputError(
                f"a decision on data set {row['dataset']!r}",
                file=row["file"],
                row=row["row"],
                remedy=f"known: {known}; take the file out of annotations.review",
            )
    key = key_of(snakemake.wildcards.dataset)
    dataset_decisions = [row for row in decisions if row["dataset"] == key]
    found = adjudicate(dataset_decisions, moments, groups)
    check_edits(found["decisions"], moments, received(Lint, settings.lint))
    found["agreement"] = agreement(found["decisions"])
    write_json(snakemake.output.outcomes, found)
    write_table_json(snakemake.output.tables, review_tables(settings.title, key, found, found["agreement"]))
    log.info(
        "%d decisions on %d moments, %d conflicts, %d flags",
        len(dataset_decisions),
        len(found["outcomes"]),
        len(found["conflicts"]),
        len(found["flags"]),
    )
