"""Choose the highest- and lowest-scored caption of each moment of one split (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import annotate, read_candidates, select, smallest_score
    from verified.config.annotations import Annotations
    from verified.config.params import received
    from verified.io.fig import write_fig
    from verified.io.jsonl import read_jsonl, write_json

    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    settings = received(Annotations, params.annotations)
    moments = read_jsonl(inputs.moments)
    groups = read_candidates(moments, inputs.scores, settings.choose_by, params.seed, inputs.agreement)
    split = [moment for moment in moments if moment["split"] == snakemake.wildcards.split]
    highest, lowest, reasons = annotate(split, groups)
    scores = [row["fig_desc_score"] for row in highest]
    least = smallest_score(scores, settings)
    highest, left_out, counts = select(highest, groups, least, settings)
    write_json(outputs.selection, {"min_score": least, "counts": counts, "left_out": left_out})
    write_fig(outputs.fig, highest)
    write_fig(outputs.lowest, (row for row in lowest if row["desc_id"] not in left_out))
    log.info("%s: %s", snakemake.wildcards.split, ", ".join(f"{count} {name}" for name, count in counts.items()))
    log.info(
        "%s: %d annotations of %d moments%s",
        snakemake.wildcards.split,
        len(highest),
        len(split),
        "".join(f", {count} left out ({reason})" for reason, count in sorted(reasons.items())),
    )
