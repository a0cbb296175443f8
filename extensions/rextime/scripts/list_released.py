"""A shard of given questions and the videos that are shown with them (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.jsonl import write_jsonl
    from verified.runtime.wildcards import group_by_shard, shard_index
    from verified_rextime.rows import read_questions
    from verified_rextime.sources import probe_videos, question_rows

    rows = question_rows(read_questions(snakemake.input.questions, snakemake.params.scored))
    by_video = [{**row, "video": row["vid"]} for row in rows]
    shard_rows = group_by_shard(by_video, snakemake.params.shards)[shard_index(snakemake.wildcards.shard)]
    videos, missing = probe_videos({row["vid"] for row in shard_rows}, snakemake.input.folder)
    write_jsonl(snakemake.output.questions, shard_rows)
    write_jsonl(snakemake.output.videos, videos)
    write_jsonl(snakemake.output.missing, missing)
    log.info("%d questions, %d videos, %d videos cannot be used", len(shard_rows), len(videos), len(missing))
