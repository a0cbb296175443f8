"""Grade the evaluator by captions of known truth, faithful or perturbed (see rules/validation.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    import torch

    from verified.evaluator.checkpoint import load_checkpoint
    from verified.evaluator.validation import grade, validation
    from verified.io.jsonl import write_json
    from verified.nn.layers import visible_device
    from verified.runtime.job import set_threads
    from verified.runtime.wildcards import key_of

    set_threads(snakemake.params.threads)
    files, params = snakemake.input, snakemake.params
    graded = grade(load_checkpoint(files.checkpoint), files, torch.device(visible_device()), params.precision)
    result = {"dataset": key_of(snakemake.wildcards.dataset), "confidence": params.confidence, "sets": {}}
    for name, (with_clips, values) in graded.items():
        validated = validation(with_clips, values, params.confidence, params.resamples, params.seed)
        result["sets"][name] = validated
        for kind, area in validated["auroc"].items():
            log.info("%s, %s: AUROC %s [%s, %s]", name, kind, area["value"], area["low"], area["high"])
    write_json(snakemake.output.validation, result)
