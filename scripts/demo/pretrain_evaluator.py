"""Pre-train the demo's evaluator on separate synthetic clips (see rules/evaluator.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.demo.tiny_evaluator.pretrain import Pretraining, run_pretraining
    from verified.evaluator.settings import architecture
    from verified.runtime.job import set_threads

    params = snakemake.params
    set_threads(params.threads)
    size = architecture(params.size, params.frames, params.image_size)
    backbone = str(Path(snakemake.input.backbone).parent)
    plan = Pretraining(params.clips, params.batch, params.learning_rate, params.seed, backbone)
    run_pretraining(size, plan, params.save_seconds, snakemake.output.checkpoint, snakemake.output.record)
