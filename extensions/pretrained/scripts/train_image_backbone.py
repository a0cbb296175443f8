"""Train the demo's image network on separate synthetic frames (see extensions/pretrained/rules.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.config.params import received
    from verified_pretrained.config import Pretrained
    from verified_pretrained.image_backbone import Schedule, run_training

    params, outputs = snakemake.params, snakemake.output
    settings = received(Pretrained, params.pretrained)
    schedule = Schedule(settings.backbone_frames, settings.backbone_batch, settings.backbone_learning_rate, params.seed)
    run_training(schedule, settings.save_seconds, str(Path(outputs.weights).parent), outputs.record, outputs.accuracy)
