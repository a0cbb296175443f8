"""The evaluator without fine-tuning, without perturbed negatives, and whole (see rules/validation.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.evaluator.validation import ablate
    from verified.runtime.job import set_threads

    inputs, params = snakemake.input, snakemake.params
    set_threads(params.threads)
    names = [dataset["name"] for dataset in params.datasets]
    ablate(
        {"no fine-tuning": inputs.start, "hard_negatives none": inputs.without},
        params.datasets,
        params.captions,
        (f"hard_negatives {params.hard_negatives}", dict(zip(names, inputs.validations, strict=True))),
        params.confidence,
        params.precision,
        params.seed,
        params.resamples,
        snakemake.output.ablation,
    )
