"""Train the demo's image network on separate synthetic frames (see rules/demo.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.config.evaluator import Evaluator
    from verified.config.params import received
    from verified.demo.pretrained.image_backbone import Schedule, run_training
    from verified.runtime.job import set_threads

    params, outputs = snakemake.params, snakemake.output
    set_threads(params.threads)
    settings = received(Evaluator, params.evaluator)
    schedule = Schedule(settings.backbone_frames, settings.backbone_batch, settings.backbone_learning_rate, params.seed)
    run_training(schedule, settings.save_seconds, str(Path(outputs.weights).parent), outputs.record)
