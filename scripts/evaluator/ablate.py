"""The evaluator without fine-tuning, without perturbed negatives, and whole (see rules/validation.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.evaluator["threads"]):
    from verified.evaluator.validation import ablate

    inputs, params = snakemake.input, snakemake.params
    names = [dataset["name"] for dataset in params.datasets]
    ablate(
        {"no fine-tuning": inputs.start, "hard_negatives none": inputs.without},
        params.datasets,
        (f"hard_negatives {params.evaluator['hard_negatives']}", dict(zip(names, inputs.validations, strict=True))),
        params.evaluator["confidence"],
        params.evaluator["precision"],
        params.seed,
        params.resamples,
        snakemake.output.ablation,
    )
