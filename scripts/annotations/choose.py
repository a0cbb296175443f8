"""Choose the highest- and lowest-scored caption of each moment of one split (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import (
        SCORE_KEYS,
        annotate,
        candidates_by_moment,
        choose_by,
        drawn_rows,
        select,
        smallest_score,
        with_times,
    )
    from verified.config.annotations import Annotations
    from verified.config.params import received
    from verified.io.fig import write_fig
    from verified.io.jsonl import read_json, read_jsonl, write_json

    settings = received(Annotations, snakemake.params.annotations)
    moments = read_jsonl(snakemake.input.moments)
    scores = [row for path in snakemake.input.scores for row in read_jsonl(path, SCORE_KEYS)]
    agreement = [row for path in snakemake.input.agreement for row in read_jsonl(path)]
    groups = candidates_by_moment(moments, scores)
    groups = choose_by(groups, settings.choose_by, snakemake.params.seed, agreement)
    split = [moment for moment in moments if moment["split"] == snakemake.wildcards.split]
    highest, lowest, reasons = annotate(split, groups)
    review = {"outcomes": {}, "drawn": [], "judged": []}
    for path in snakemake.input.review:
        review = read_json(path)
    least = smallest_score(
        [row["fig_desc_score"] for row in highest],
        review["judged"],
        min_score=settings.min_score,
        min_quantile=settings.min_quantile,
        min_precision=settings.min_precision,
    )
    outcomes = {int(moment): outcome for moment, outcome in review["outcomes"].items()}
    highest, left_out, counts = select(highest, groups, outcomes, least, settings.best, settings.otherwise)
    lowest = with_times((row for row in lowest if row["desc_id"] not in left_out), outcomes)
    drawn = drawn_rows(moment for moment in review["drawn"] if moment["split"] == snakemake.wildcards.split)
    counts.update({"drawn": len(drawn), "added": len(drawn)} if drawn else ())
    highest += drawn
    write_json(snakemake.output.selection, {"min_score": least, "counts": counts, "left_out": left_out})
    write_fig(snakemake.output.fig, highest)
    write_fig(snakemake.output.lowest, lowest)
    log.info("%s: %s", snakemake.wildcards.split, ", ".join(f"{count} {name}" for name, count in counts.items()))
    log.info(
        "%s: %d annotations of %d moments%s",
        snakemake.wildcards.split,
        len(highest),
        len(split),
        "".join(f", {count} left out ({reason})" for reason, count in sorted(reasons.items())),
    )
