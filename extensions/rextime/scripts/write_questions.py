"""Questions across time of one shard (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.runtime.wildcards import group_by_shard, shard_index
    from verified_rextime.config import Rextime
    from verified_rextime.generate import shard_counts, write_questions
    from verified_rextime.tasks import GENERATION

    params = snakemake.params
    items = group_by_shard(read_jsonl(snakemake.input.rows), params.shards)[shard_index(snakemake.wildcards.shard)]
    videos = {row["video"]: row for row in read_jsonl(snakemake.input.videos)}
    with Session(received(Generation, params.generation), params.seed, GENERATION) as session:
        questions, to_mark, fates = write_questions(items, videos, session, received(Rextime, params.rextime))
        counts = shard_counts(items, questions, to_mark, fates, session.outcome_counts())
        counts |= {"unanswered": session.settle(), "asked_in": params.asked_in}
    written = [*questions, *to_mark]
    corrupted = [{"qid": row["qid"], "corrupted": row["corrupted"]} for row in written if row["corrupted"]]
    for path, rows in ((snakemake.output.questions, questions), (snakemake.output.to_mark, to_mark)):
        write_jsonl(path, ({key: value for key, value in row.items() if key != "corrupted"} for row in rows))
    write_jsonl(snakemake.output.corrupted, corrupted)
    write_jsonl(snakemake.output.fates, fates)
    write_json(snakemake.output.counts, counts)
    log.info("%d items gave %d questions, %d more once people mark them", len(items), len(questions), len(to_mark))
