"""Pre-train the demo's evaluator on its separate world (see rules/evaluator.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.threads):
    from verified.common.job import set_threads
    from verified.common.jsonl import write_jsonl
    from verified.evaluator.architecture import architecture
    from verified.evaluator.checkpoint import save_checkpoint
    from verified.evaluator.pretrain import pretrain

    set_threads(snakemake.threads)
    params = snakemake.params
    size = architecture(params.size, params.frames, params.image_size)
    model, rows = pretrain(size, params.clips, params.batch, params.learning_rate, params.seed)
    origin = f"pre-trained on {params.clips} clips of the demo's separate world, seed {params.seed}"
    save_checkpoint(snakemake.output.checkpoint, model.state_dict(), size, origin)
    write_jsonl(snakemake.output.record, rows)
