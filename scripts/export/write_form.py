"""Write the annotations of a data set in one form (see rules/export.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    import contextlib
    from pathlib import Path

    from verified.export.collection import collect, without
    from verified.export.forms import write_form
    from verified.export.media import media_of
    from verified.io.fig import read_splits
    from verified.io.jsonl import read_jsonl
    from verified.keyframes.archive import KeyframeTars

    inputs, facts = snakemake.input, snakemake.params.facts
    annotations = without(read_splits(inputs.annotations), inputs.get("findings", []))
    collection = collect(annotations, facts["splits"], facts["about"], facts["reviewer_names"])
    with contextlib.ExitStack() as stack:
        media = None
        if facts["media"]:
            keyframes = stack.enter_context(KeyframeTars(inputs.keyframes))
            media = media_of(read_jsonl(inputs.videos[0]), keyframes, facts["clip_side"])
        folder = Path(snakemake.output[0])
        write_form(snakemake.wildcards.form, folder, collection, facts.get("shard_captions", 0), media)
    log.info("%s: %s", snakemake.wildcards.form, collection.counts())
