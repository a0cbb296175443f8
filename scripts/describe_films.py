"""Statistics of one data set of films, of videos, or of a published one (see rules/longform_statistics.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_jsonl, write_json
    from verified.longform.annotations import checked, from_fig, from_moments
    from verified.longform.statistics import measure_splits
    from verified.statistics.language import load_tagger

    params, missing = snakemake.params, {}
    if params.kind == "published":
        from verified.corpus.released_formats import read_split
        from verified.longform.paths import published_release

        release = published_release(snakemake.wildcards.collection, params.folder)
        missing = release.missing
        rows = []
        for split in release.splits:
            files = {file.format: release.folder / file.place for file in release.files[split]}
            rows += from_fig(read_split(files), split, "cog_desc")
        rows = [{**row, "id": str(number)} for number, row in enumerate(rows)]
    else:
        rows = read_jsonl(snakemake.input.rows)
        rows = from_moments(rows) if params.kind == "moments" else rows
    kept, _, counts = checked(rows)
    found = measure_splits(kept, load_tagger(params.model), params.processes)
    write_json(
        snakemake.output[0], {"title": params.title, "kind": params.kind, "missing": missing, "counts": counts, **found}
    )
