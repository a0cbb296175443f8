"""Choose the captions of one split's moments by scores and reviewers' decisions (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import annotate, read_candidates, smallest_score
    from verified.config.annotations import Annotations
    from verified.config.params import received
    from verified.io.fig import write_fig
    from verified.io.jsonl import read_json, read_jsonl, write_json
    from verified_lab.config import Review
    from verified_lab.review.apply import drawn_rows, precision_threshold, select_reviewed, with_times

    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    settings, precision = received(Annotations, params.annotations), received(Review, params.review).min_precision
    moments, review = read_jsonl(inputs.moments), read_json(inputs.review)
    groups = read_candidates(moments, inputs.scores, settings.choose_by, params.seed, inputs.agreement)
    split = [moment for moment in moments if moment["split"] == snakemake.wildcards.split]
    highest, lowest, _ = annotate(split, groups)
    scores = [row["fig_desc_score"] for row in highest]
    limits = [smallest_score(scores, settings)]
    limits += [precision_threshold(review["judged"], precision)] if precision else []
    least = max((limit for limit in limits if limit is not None), default=None)
    outcomes = {int(moment): outcome for moment, outcome in review["outcomes"].items()}
    highest, left_out, counts = select_reviewed(highest, groups, outcomes, least, settings)
    drawn = drawn_rows(moment for moment in review["drawn"] if moment["split"] == snakemake.wildcards.split)
    counts.update({"drawn": len(drawn), "added": len(drawn)} if drawn else {})
    write_json(outputs.selection, {"min_score": least, "counts": counts, "left_out": left_out})
    write_fig(outputs.fig, [*highest, *drawn])
    write_fig(outputs.lowest, with_times((row for row in lowest if row["desc_id"] not in left_out), outcomes))
    log.info("%s: %s", snakemake.wildcards.split, ", ".join(f"{count} {name}" for name, count in counts.items()))
