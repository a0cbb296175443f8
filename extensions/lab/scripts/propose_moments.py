"""The moments file of videos without moments, from all captioned scenes (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from collections import Counter

    from verified.corpus.copies import video_copies
    from verified.io.jsonl import read_json, read_jsonl
    from verified_lab.proposals import write_proposals

    rows = [row for path in snakemake.input.scenes for row in read_jsonl(path)]
    copies = video_copies({video: code for path in snakemake.input.hashes for video, code in read_json(path).items()})
    settings = snakemake.params
    counts = write_proposals(snakemake.output.moments, rows, settings.proposals, settings.splits, settings.seed, copies)
    if lost := Counter(row["reason"] for row in rows if row["caption"] is None):
        reasons = ", ".join(f"{count} x {reason}" for reason, count in lost.most_common())
        log.warning("%d of %d scenes have no caption that can be used: %s", lost.total(), len(rows), reasons)
    if counts["same_caption"]:
        log.warning("%d of %d scenes have one caption, which is left out", counts["same_caption"], len(rows))
    log.info("%s; correct a copy of %s and name it in the source's `moments`", counts, snakemake.output.moments)
