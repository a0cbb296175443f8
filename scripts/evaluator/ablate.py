"""The evaluator without fine-tuning, without perturbed negatives, and whole (see rules/validation.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.evaluator.validation import ablate
    from verified.runtime.job import set_threads

    inputs, params = snakemake.input, snakemake.params
    set_threads(params.threads)
    checkpoints = {
        "no fine-tuning": inputs.start,
        "hard_negatives none": inputs.without,
        f"hard_negatives {params.hard_negatives}": inputs.checkpoint,
    }
    ablate(
        checkpoints,
        params.datasets,
        params.captions,
        params.confidence,
        params.precision,
        params.seed,
        params.resamples,
        snakemake.output.ablation,
    )
