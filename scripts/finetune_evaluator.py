"""Fine-tune the evaluator with disturbed captions (see rules/evaluator.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    from verified.evaluator.finetune import run_finetuning

    run_finetuning(
        snakemake.input.checkpoint,
        snakemake.params.datasets,
        snakemake.params.settings,
        snakemake.params.seed,
        snakemake.params.threads,
        snakemake.params.save_seconds,
        snakemake.output.checkpoint,
        snakemake.output.card,
        snakemake.output.record,
    )
