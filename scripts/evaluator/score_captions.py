"""Score all candidate captions of a shard (see rules/evaluator.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.evaluator["threads"]) as log:
    import torch

    from verified.evaluator.checkpoint import load_checkpoint
    from verified.evaluator.clips import open_clips
    from verified.evaluator.score import score_candidates
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.nn.layers import visible_device

    index = read_jsonl(snakemake.input.index)
    captions = [read_jsonl(path) for path in (snakemake.input.statics, snakemake.input.dynamics)]
    rows, counts = score_candidates(
        load_checkpoint(snakemake.input.checkpoint),
        open_clips(snakemake.input.clips, index),
        index,
        captions,
        snakemake.params.evaluator["confidence"],
        torch.device(visible_device()),
        snakemake.params.evaluator["precision"],
    )
    write_jsonl(snakemake.output.scores, rows)
    write_json(snakemake.output.counts, counts)
    log.info("%d of %d candidates scored", counts["scored"], counts["candidates"])
