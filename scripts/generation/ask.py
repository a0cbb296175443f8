"""Ask all calls of a stage for several shards and leave the answers in the ledger (see rules/asking.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.captions.dynamics import caption_dynamics
    from verified.captions.statics import caption_statics
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json
    from verified.keyframes.archive import KeyframeTars
    from verified.lmm.session import Session
    from verified.lmm.tasks.paper import TASKS_OF_STAGE
    from verified.perturbations.write import ask
    from verified.weights.records import locate_models

    inputs, stage = snakemake.input, snakemake.wildcards.stage
    generation = locate_models(received(Generation, snakemake.params.generation), inputs.weights)
    moments = [row for path in inputs.moments for row in read_jsonl(path)]
    with Session(generation, snakemake.params.seed, TASKS_OF_STAGE[stage]) as session:
        if stage == "statics":
            with KeyframeTars(inputs.keyframes) as keyframes:
                caption_statics(moments, keyframes, session)
        elif stage == "dynamics":
            videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
            caption_dynamics(moments, videos, snakemake.params.dynamics, session)
        else:
            ask(moments, session)
        counts = {"shards": snakemake.params.shards, "moments": len(moments), "calls": session.outcome_counts()}
        counts |= {"unanswered": session.settle(), "asked_in": snakemake.params.asked_in}
    write_json(snakemake.output.asked, counts)
    log.info("%d moments of %d shards", len(moments), len(snakemake.params.shards))
