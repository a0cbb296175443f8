"""Pre-train the demo's evaluator on its separate world (see rules/evaluator.smk)."""

from pathlib import Path

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    from verified.common.job import set_threads
    from verified.evaluator.architecture import architecture
    from verified.evaluator.tiny.pretrain import Pretraining, run_pretraining

    params = snakemake.params
    set_threads(params.threads)
    size = architecture(params.size, params.frames, params.image_size)
    backbone = str(Path(snakemake.input.backbone).parent)
    plan = Pretraining(params.clips, params.batch, params.learning_rate, params.seed, backbone)
    run_pretraining(size, plan, params.save_seconds, snakemake.output.checkpoint, snakemake.output.record)
