"""Pre-train the demo's evaluator on its separate world (see rules/evaluator.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    from pathlib import Path

    from verified.common.digest import code_digest
    from verified.common.job import set_threads
    from verified.common.jsonl import write_jsonl
    from verified.evaluator.architecture import architecture
    from verified.evaluator.checkpoint import save_checkpoint
    from verified.evaluator.pretrain import pretrain
    from verified.evaluator.resume import fingerprint
    from verified.evaluator.training import Savings

    set_threads(snakemake.params.threads)
    params = snakemake.params
    size = architecture(params.size, params.frames, params.image_size)
    plan = (params.clips, params.batch, params.learning_rate, params.seed)
    state = Path(snakemake.output.checkpoint).with_name(".pretraining-state.safetensors")
    name = fingerprint(size.as_dict(), plan, code_digest("evaluator", "corpus"))
    model, rows = pretrain(size, *plan, Savings(state, name, seconds=60))
    origin = f"pre-trained on {params.clips} clips of the demo's separate world, seed {params.seed}"
    write_jsonl(snakemake.output.record, rows)
    save_checkpoint(snakemake.output.checkpoint, model.state_dict(), size, origin)
    state.unlink(missing_ok=True)
