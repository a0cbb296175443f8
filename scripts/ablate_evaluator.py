"""The evaluator without fine-tuning, without disturbed negatives, and whole (see rules/evaluator.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    from verified.common.job import set_threads
    from verified.evaluator.grading import ablate

    given, params = snakemake.input, snakemake.params
    set_threads(params.threads)
    checkpoints = {
        "no fine-tuning": given.start,
        "hard_negatives none": given.without,
        f"hard_negatives {params.hard_negatives}": given.checkpoint,
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
