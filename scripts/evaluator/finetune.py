"""Fine-tune the evaluator with perturbed captions (see rules/evaluator.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.evaluator.finetune import FineTuning, run_finetuning
    from verified.evaluator.settings import FineTuningSettings

    inputs, params, outputs = snakemake.input, snakemake.params, snakemake.output
    run_finetuning(
        FineTuning(
            start=inputs.checkpoint,
            datasets=params.datasets,
            settings=FineTuningSettings(**params.settings),
            seed=params.seed,
            threads=params.threads,
            save_seconds=params.save_seconds,
            checkpoint=outputs.checkpoint,
            card=outputs.card,
            record=outputs.record,
        )
    )
