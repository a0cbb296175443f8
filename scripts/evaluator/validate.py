"""Grade the evaluator by captions of known truth, faithful or perturbed (see rules/validation.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.evaluator["threads"]) as log:
    import torch

    from verified.evaluator.checkpoint import load_checkpoint
    from verified.evaluator.validation import grade, validation
    from verified.io.jsonl import write_json
    from verified.nn.layers import visible_device
    from verified.runtime.wildcards import key_of

    files, params = snakemake.input, snakemake.params
    confidence, precision = params.evaluator["confidence"], params.evaluator["precision"]
    graded = grade(load_checkpoint(files.checkpoint), files, torch.device(visible_device()), precision)
    result = {"dataset": key_of(snakemake.wildcards.dataset), "confidence": confidence, "sets": {}}
    for name, (with_clips, values) in graded.items():
        validated = validation(with_clips, values, confidence, params.resamples, params.seed)
        result["sets"][name] = validated
        for kind, area in validated["auroc"].items():
            log.info("%s, %s: AUROC %s [%s, %s]", name, kind, area["value"], area["low"], area["high"])
    write_json(snakemake.output.validation, result)
