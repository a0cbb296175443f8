"""Transcribe the videos of one shard (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.transcription import TRANSCRIPTION
    from verified_lab.quality.transcripts import UNREADABLE, transcripts

    videos, output = read_jsonl(snakemake.input.videos), snakemake.output
    calls: dict = {"calls": {}, "unanswered": {}}
    if snakemake.params.asks:
        generation = received(Generation, snakemake.params.generation)
        with Session(generation, snakemake.params.seed, (TRANSCRIPTION,)) as session:
            rows = transcripts(videos, session)
            calls = {"calls": session.outcome_counts(), "unanswered": session.settle()}
    else:
        rows = transcripts(videos, None)
    write_jsonl(output.transcripts, rows)
    unreadable = sum(row["reason"] == UNREADABLE for row in rows)
    counts = {"videos": len(rows), "unreadable_subtitles": unreadable}
    write_json(output.counts, {**counts, **calls, "asked_in": snakemake.params.asked_in})
