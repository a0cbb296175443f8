"""Pre-train the demo's evaluator on separate synthetic clips (see rules/evaluator.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.config.evaluator import Evaluator
    from verified.config.params import received
    from verified.demo.tiny_evaluator.pretrain import Pretraining, run_pretraining
    from verified.evaluator.settings import architecture
    from verified.runtime.job import set_threads

    params = snakemake.params
    set_threads(params.threads)
    settings = received(Evaluator, params.evaluator)
    size = architecture(settings.size, settings.frames, settings.image_size)
    backbone = str(Path(snakemake.input.backbone).parent)
    plan = Pretraining(
        settings.pretrain_clips, settings.pretrain_batch, settings.pretrain_learning_rate, params.seed, backbone
    )
    run_pretraining(size, plan, settings.save_seconds, snakemake.output.checkpoint, snakemake.output.record)
