"""Perturbed captions of one shard and the selected ones (see rules/perturbations.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.perturbations import TASKS
    from verified.perturbations.write import perturb, shard_counts
    from verified.weights.records import locate_models, source_of

    generation = locate_models(received(Generation, snakemake.params.generation), snakemake.input.weights)
    encoder, _ = source_of(*snakemake.params.sentences, snakemake.input.weights)
    moments = read_jsonl(snakemake.input.moments)
    with Session(generation, snakemake.params.seed, TASKS) as session:
        rows = perturb(moments, session, encoder, generation.threads)
        counts = shard_counts(rows, generation.perturbations, session.outcome_counts())
        counts |= {"unanswered": session.settle(), "asked_in": snakemake.params.asked_in}
    write_jsonl(snakemake.output.perturbations, rows)
    write_json(snakemake.output.counts, counts)
    log.info("%d moments: all three captions selected for %d", counts["moments"], counts["selected"])
