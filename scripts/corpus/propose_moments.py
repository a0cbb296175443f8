"""The moments file of videos without moments, from the captioned scenes of all shards (see rules/proposals.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.corpus.proposed import write_proposals
    from verified.io.jsonl import read_jsonl

    rows = [row for path in snakemake.input for row in read_jsonl(path)]
    settings = snakemake.params
    counts = write_proposals(snakemake.output.moments, rows, settings.proposals, settings.splits, settings.seed)
    log.info("%s; correct a copy of %s and name it in the source's `moments`", counts, snakemake.output.moments)
