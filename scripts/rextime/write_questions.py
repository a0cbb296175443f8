"""Questions across time of one shard (see rules/rextime.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.benchmark.rextime.generate import shard_counts, write_questions
    from verified.config import load
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.rextime import GENERATION
    from verified.runtime.shards import rows_of_shard

    settings = load(snakemake.config)
    items = rows_of_shard(read_jsonl(snakemake.input.rows), snakemake.wildcards.shard, settings.shards)
    videos = {row["video"]: row for row in read_jsonl(snakemake.input.videos)}
    with Session(settings.generation, settings.seed, GENERATION) as session:
        questions, fates = write_questions(items, videos, session, settings.rextime)
        counts = shard_counts(items, questions, fates, session.outcome_counts())
        counts |= {"unanswered": session.settle(), "asked_in": snakemake.params.asked_in}
    corrupted = [{"qid": row["qid"], "corrupted": row["corrupted"]} for row in questions if row["corrupted"]]
    write_jsonl(snakemake.output.questions, ({k: v for k, v in row.items() if k != "corrupted"} for row in questions))
    write_jsonl(snakemake.output.corrupted, corrupted)
    write_jsonl(snakemake.output.fates, fates)
    write_json(snakemake.output.counts, counts)
    log.info("%d items gave %d questions", len(items), len(questions))
