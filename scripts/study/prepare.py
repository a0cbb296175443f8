"""Draw the captions of a user study and write its pages (see rules/study.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.config.model import Study
    from verified.config.params import received
    from verified.io.fig import read_splits
    from verified.io.jsonl import read_jsonl, write_json
    from verified.io.video.cut import clips_of
    from verified.people.pages import STUDY, write_pages
    from verified.people.study.sample import pages, plan
    from verified.runtime.wildcards import key_of

    inputs, outputs, settings = snakemake.input, snakemake.output, snakemake.params
    size = received(Study, settings.study)
    dataset = key_of(snakemake.wildcards.dataset)
    key = plan(
        dataset,
        settings.title,
        read_splits(inputs.annotations),
        size.captions,
        size.questions,
        size.raters,
        settings.seed,
    )
    spans = [(row["question"], row["video"], *row["time"]) for row in key["questions"]]
    clips = clips_of(spans, read_jsonl(inputs.videos), size.clip_side)
    write_pages(Path(outputs.pages), STUDY, pages(key, clips))
    write_json(outputs.key, key)
    log.info(
        "%d captions of %d wanted, %d participants",
        len(key["questions"]),
        2 * size.captions,
        len(key["participants"]),
    )
