"""A first coarse caption for each scene of one shard (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]):
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.weights.records import locate_models
    from verified_lab.scene_captions import COARSE_CAPTION, caption_scenes

    generation = locate_models(received(Generation, snakemake.params.generation), snakemake.input.weights)
    with Session(generation, snakemake.params.seed, (COARSE_CAPTION,)) as session:
        rows = caption_scenes(read_jsonl(snakemake.input.scenes), snakemake.params.dynamics, session)
        counts = {"scenes": len(rows), "calls": session.outcome_counts(), "unanswered": session.settle()}
    write_jsonl(snakemake.output.captions, rows)
    write_json(snakemake.output.counts, counts | {"asked_in": snakemake.params.asked_in})
