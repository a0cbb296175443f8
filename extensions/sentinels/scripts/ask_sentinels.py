"""Caption a part of the sentinels; stop at the limit of false statements (see extensions/sentinels/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.captions.dynamics import caption_dynamics
    from verified.captions.rows import shard_counts, split_corrupted
    from verified.captions.statics import caption_statics
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.keyframes.archive import KeyframeTar
    from verified.lmm.session import Session
    from verified.weights.records import locate_models
    from verified_sentinels.config import TASKS
    from verified_sentinels.facts import check_limit, false_share, judge, read_truth

    params, inputs, output = snakemake.params, snakemake.input, snakemake.output
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    moments = read_jsonl(inputs.moments)[params.part :: params.parts]
    videos = {row["video"]: row for row in read_jsonl(inputs.videos)}
    with KeyframeTar(inputs.keyframes) as keyframes, Session(generation, params.seed, TASKS) as session:
        rows, _ = split_corrupted(
            caption_statics(moments, keyframes, session) + caption_dynamics(moments, videos, params.dynamics, session)
        )
        counts = shard_counts(rows, generation.candidates, session.outcome_counts()) | {"unanswered": session.settle()}
    rows = [{**row, "part": snakemake.wildcards.part} for row in rows]
    judged = judge([row for path in inputs.earlier for row in read_jsonl(path)] + rows, read_truth(inputs.truth))
    if (share := false_share(judged)) is not None:
        log.info("%.0f %% of the statements so far are false", 100 * share.value)
    elif judged:
        log.warning("no statement in %d captions of rendered moments can be read", len(judged))
    if params.limit is not None:
        check_limit(judged, params.limit)
    write_jsonl(output.captions, rows)
    write_json(output.counts, counts)
