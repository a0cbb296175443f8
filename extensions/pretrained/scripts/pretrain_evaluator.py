"""Pre-train the demo's evaluator on separate synthetic clips (see extensions/pretrained/rules.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.config.params import received
    from verified.evaluator.settings import architecture
    from verified_pretrained.config import Pretrained
    from verified_pretrained.evaluator import Pretraining, run_pretraining

    params = snakemake.params
    settings = received(Pretrained, params.pretrained)
    size = architecture("tiny", settings.frames, settings.image_size)
    backbone = str(Path(snakemake.input.backbone).parent)
    plan = Pretraining(
        settings.pretrain_clips, settings.pretrain_batch, settings.pretrain_learning_rate, params.seed, backbone
    )
    run_pretraining(size, plan, settings.save_seconds, snakemake.output.checkpoint, snakemake.output.record)
