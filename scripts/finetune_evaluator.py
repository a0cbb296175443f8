"""Fine-tune the evaluator with disturbed captions (see rules/evaluator.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    from verified.evaluator.finetune import FineTuning, run_finetuning

    given, params, made = snakemake.input, snakemake.params, snakemake.output
    run_finetuning(
        FineTuning(
            start=given.checkpoint,
            datasets=params.datasets,
            settings=params.settings,
            seed=params.seed,
            threads=params.threads,
            save_seconds=params.save_seconds,
            checkpoint=made.checkpoint,
            card=made.card,
            record=made.record,
        )
    )
