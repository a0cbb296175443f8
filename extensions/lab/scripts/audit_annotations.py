"""Audit the annotations of a data set (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    import dataclasses

    from verified.config.params import received
    from verified.corpus.copies import video_copies
    from verified.io.fig import read_splits
    from verified.io.jsonl import read_json, write_json, write_jsonl
    from verified.statistics.embeddings import Embeddings
    from verified_lab.audit.checks import audit
    from verified_lab.audit.findings import summarise
    from verified_lab.audit.queries import of_annotations, spans_of_runs
    from verified_lab.config import Audit

    inputs, params = snakemake.input, snakemake.params
    settings = received(Audit, params.audit)
    audited = of_annotations(read_splits(inputs.annotations))
    answers = spans_of_runs(inputs.submissions, params.test_split, audited)
    copies = video_copies(
        {video: code for path in inputs.hashes for video, code in read_json(path).items()}, settings.max_alike
    )
    findings, checked = audit(audited, settings, Embeddings(inputs.embeddings).lookup, answers, copies)
    summary = summarise(audited, findings, list(answers), checked)
    write_jsonl(snakemake.output.findings, map(dataclasses.asdict, findings))
    write_json(snakemake.output.summary, summary)
    log.info("%d findings on %d of %d queries", len(findings), len(audited) - summary["all"]["clean"], len(audited))
