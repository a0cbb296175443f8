"""Adjudicate the decisions of all reviewers (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import read_candidates
    from verified.config.annotations import Lint
    from verified.config.params import received
    from verified.errors import InputError
    from verified.io.jsonl import read_jsonl, write_json
    from verified.runtime.wildcards import key_of
    from verified.tables.table import write_table_json
    from verified_lab.review.adjudicate import adjudicate
    from verified_lab.review.apply import check_edits
    from verified_lab.review.decisions import read_decisions
    from verified_lab.review.tables import agreement, review_tables

    inputs, settings = snakemake.input, snakemake.params
    moments = read_jsonl(inputs.moments)
    groups = read_candidates(moments, inputs.scores)
    decisions = read_decisions(inputs.review)
    for row in decisions:
        if row["dataset"] not in settings.datasets:
            names = ", ".join(settings.datasets)
            raise InputError(
                f"a decision on data set {row['dataset']!r}",
                file=row["file"],
                row=row["row"],
                remedy=f"known: {names}; take the file out of review.decisions",
            )
    key = key_of(snakemake.wildcards.dataset)
    dataset_decisions = [row for row in decisions if row["dataset"] == key]
    result = adjudicate(dataset_decisions, moments, groups)
    check_edits(result["decisions"], moments, received(Lint, settings.lint))
    result["agreement"] = agreement(result["decisions"])
    write_json(snakemake.output.outcomes, result)
    write_table_json(snakemake.output.tables, review_tables(settings.title, key, result, result["agreement"]))
    log.info(
        "%d decisions on %d moments, %d conflicts, %d flags",
        len(dataset_decisions),
        len(result["outcomes"]),
        len(result["conflicts"]),
        len(result["flags"]),
    )
