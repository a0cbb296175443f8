"""Grade the evaluator by captions of known truth, faithful or perturbed (see rules/validation.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    import torch

    from verified.evaluator.checkpoint import load_checkpoint
    from verified.evaluator.clips import open_clips
    from verified.evaluator.validation import confidences, corrupted_candidates, unseen_perturbations, validation
    from verified.io.jsonl import read_jsonl, write_json
    from verified.nn.layers import visible_device
    from verified.runtime.job import set_threads
    from verified.runtime.wildcards import key_of

    set_threads(snakemake.params.threads)
    files, params = snakemake.input, snakemake.params

    def rows_of(name):
        return [row for path in files.get(name, []) for row in read_jsonl(path)]

    device = torch.device(visible_device())
    model = load_checkpoint(files.checkpoint)
    indices = [read_jsonl(path) for path in files.indices]
    clips = [open_clips(*pair) for pair in zip(files.clips, indices)]
    sets = {"perturbations": unseen_perturbations(rows_of("perturbations"))}
    if files.get("corrupted"):
        sets["corrupted"] = corrupted_candidates(rows_of("captions"), rows_of("corrupted"))
    result = {"dataset": key_of(snakemake.wildcards.dataset), "confidence": params.confidence, "sets": {}}
    for name, (with_clips, values) in confidences(model, sets, clips, indices, device, params.precision).items():
        validated = validation(with_clips, values, params.confidence, params.resamples, params.seed)
        result["sets"][name] = validated
        for kind, area in validated["auroc"].items():
            log.info("%s, %s: AUROC %s [%s, %s]", name, kind, area["value"], area["low"], area["high"])
    write_json(snakemake.output.validation, result)
