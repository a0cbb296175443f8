"""Choose the highest- and lowest-scored caption of each moment of one split (see rules/annotations.smk)."""

from verified.common.job import job

with job(snakemake) as log:
    from verified.annotations.choose import SCORE_KEYS, annotate, candidates_by_moment, chosen_by
    from verified.common.fig import write_fig
    from verified.common.jsonl import read_jsonl

    moments = read_jsonl(snakemake.input.moments)
    scores = [row for path in snakemake.input.scores for row in read_jsonl(path, SCORE_KEYS)]
    similarities = [row for path in snakemake.input.similarities for row in read_jsonl(path)]
    groups = candidates_by_moment(moments, scores)
    groups = chosen_by(groups, snakemake.params.choose_by, snakemake.params.seed, similarities)
    split = [moment for moment in moments if moment["split"] == snakemake.wildcards.split]
    highest, lowest, reasons = annotate(split, groups)
    write_fig(snakemake.output.fig, highest)
    write_fig(snakemake.output.lowest, lowest)
    log.info(
        "%s: %d of %d moments annotated%s",
        snakemake.wildcards.split,
        len(highest),
        len(split),
        "".join(f", {count} left out ({reason})" for reason, count in sorted(reasons.items())),
    )
