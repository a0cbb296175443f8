"""How many false spans the audit finds (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.fig import read_splits
    from verified.io.jsonl import write_json
    from verified_lab.audit.queries import of_annotations, spans_of_runs
    from verified_lab.audit.recovery import recover
    from verified_lab.config import Audit

    inputs, params = snakemake.input, snakemake.params
    audited = [one for one in of_annotations(read_splits(inputs.annotations)) if one.split == params.test_split]
    answers = spans_of_runs(inputs.submissions, params.test_split, audited)
    found = recover(audited, Audit(**params.audit), answers, params.seed)
    write_json(snakemake.output.recovery, found)
    log.info("%s", found["rows"])
