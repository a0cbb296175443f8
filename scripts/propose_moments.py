"""The moments file of videos without moments, from the captioned scenes of all shards (see rules/proposals.smk)."""

from verified.common.job import job

with job(snakemake) as log:
    from verified.common.jsonl import read_jsonl
    from verified.corpus.proposed import write_proposals

    rows = [row for path in snakemake.input for row in read_jsonl(path)]
    settings = snakemake.params
    counts = write_proposals(snakemake.output.moments, rows, settings.proposals, settings.splits, settings.seed)
    log.info("%s; correct a copy of %s and name it in the source's `moments`", counts, snakemake.output.moments)
