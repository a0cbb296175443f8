"""Write the annotations of a data set in one form (see rules/export.smk)."""

from verified.common.job import job

with job(snakemake) as log:
    import contextlib
    from pathlib import Path

    from verified.captions.tar import KeyframeTars
    from verified.common.fig import read_splits
    from verified.common.jsonl import read_jsonl
    from verified.export.collection import collect
    from verified.export.forms import write_form
    from verified.export.media import media_of

    inputs, facts = snakemake.input, snakemake.params.facts
    collection = collect(read_splits(inputs.annotations), facts["splits"], facts["about"])
    with contextlib.ExitStack() as stack:
        media = None
        if facts["media"]:
            keyframes = stack.enter_context(KeyframeTars(inputs.keyframes))
            media = media_of(read_jsonl(inputs.videos[0]), keyframes, facts["clip_side"])
        folder = Path(snakemake.output[0])
        write_form(snakemake.wildcards.form, folder, collection, facts.get("shard_captions", 0), media)
    log.info("%s: %s", snakemake.wildcards.form, collection.counts())
