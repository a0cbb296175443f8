"""The evaluator without fine-tuning, without disturbed negatives, and whole (see rules/evaluator.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.evaluator.ablation import ablate

    params = snakemake.params
    ablate(
        snakemake.input.start,
        snakemake.input.checkpoint,
        params.datasets,
        params.captions,
        params.settings,
        params.seed,
        params.resamples,
        snakemake.params.threads,
        snakemake.output.ablation,
    )
