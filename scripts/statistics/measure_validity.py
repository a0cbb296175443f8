"""Compare the stages' results with the demo's truth (see rules/validity.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.benchmark.vcmr.results import read_per_query
    from verified.io.fig import read_splits
    from verified.io.jsonl import read_json, read_jsonl, write_json
    from verified.keyframes.archive import KeyframeTar
    from verified.statistics import validity

    def rows_of(paths):
        return [row for path in paths for row in read_jsonl(path)]

    inputs, settings = snakemake.input, snakemake.params
    truth, candidates = read_jsonl(inputs.truth), validity.mark_false(rows_of(inputs.scores), rows_of(inputs.corrupted))
    index = [*KeyframeTar(*inputs.keyframes).rows.values()]
    recalls = {trained: read_per_query(folders) for trained, folders in settings.runs.items()}

    rows = [validity.cut_recall(truth, index, settings.segments, settings.fps)]
    rows.append(validity.proposed_recall(truth, rows_of(inputs.scenes)))
    rows += validity.caption_accuracy(truth, [row for row in candidates if not row["false"]])
    rows += validity.evaluator_auroc(candidates, settings.resamples, settings.seed)
    releases = {"chosen": read_splits(inputs.chosen), "lowest": read_splits(inputs.lowest)}
    rows += validity.false_captions(candidates, releases)
    rows += validity.review_gain(candidates, releases["chosen"])
    if "cog" in recalls:
        for name in ("VR/r1", "VCMR/0.5/r5"):
            check = "XML trained on FIG minus COG, points"
            rows.append(validity.recall_difference(check, recalls["fig"], recalls["cog"], name, (">", 0)))
    if "fig-lowest" in recalls:
        for name in ("VR/r1", "VCMR/0.5/r5"):
            check = "XML trained on highest minus lowest scores, points"
            rows.append(validity.recall_difference(check, recalls["fig"], recalls["fig-lowest"], name))
    rows.append(validity.many_to_many_ratio(read_json(inputs.many_to_many)))
    write_json(snakemake.output.validity, {"checks": rows})
