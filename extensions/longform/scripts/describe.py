"""Statistics of one data set of movies, of videos, or of a published one."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import read_jsonl, write_json
    from verified.statistics.language import load_tagger
    from verified_longform.annotations import check_rows, from_coarse, from_moments
    from verified_longform.statistics import measure_splits

    params, missing = snakemake.params, {}
    if params.kind == "published":
        from verified.released.collections import read_splits, resolve
        from verified_longform.jobs import published_source

        source = published_source(snakemake.wildcards.collection, params.folder)
        missing = resolve(source).missing
        rows = [row for split, own in read_splits(source) for row in from_coarse(own, split)]
    else:
        rows = read_jsonl(snakemake.input.rows)
        rows = from_moments(rows) if params.kind == "moments" else rows
    usable, _, counts = check_rows(rows)
    measures = measure_splits(usable, load_tagger(params.spacy_model), params.processes)
    write_json(
        snakemake.output[0],
        {"title": params.title, "kind": params.kind, "missing": missing, "counts": counts, **measures},
    )
