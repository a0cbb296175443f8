"""Fine-tune the evaluator with perturbed captions (see rules/evaluator.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.config.evaluator import Evaluator
    from verified.config.params import received
    from verified.evaluator.finetune import FineTuning, run_finetuning

    inputs, params, outputs = snakemake.input, snakemake.params, snakemake.output
    run_finetuning(
        FineTuning(
            start=inputs.checkpoint,
            datasets=params.datasets,
            settings=received(Evaluator, params.evaluator),
            seed=params.seed,
            checkpoint=outputs.checkpoint,
            card=outputs.card,
            record=outputs.record,
        )
    )
