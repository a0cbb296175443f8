"""Write the annotations of a data set in one form (see rules/export.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.captions.counts import add_served
    from verified.export.collection import collect, without
    from verified.export.forms import write_form
    from verified.io.fig import read_splits
    from verified.io.jsonl import read_json

    inputs, facts = dict(snakemake.input.items()), snakemake.params.facts
    annotations = without(read_splits(inputs.pop("annotations")), inputs.pop("findings", []))
    about = facts["about"]
    for path in inputs.pop("outcomes", []):
        about = add_served(about, read_json(path))
    collection = collect(annotations, facts["splits"], about, facts["reviewer_names"])
    write_form(snakemake.wildcards.form, Path(snakemake.output[0]), collection, **inputs, **facts["options"])
    log.info("%s: %s", snakemake.wildcards.form, collection.counts())
