"""Bring the search index of a corpus up to date."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]) as log:
    from pathlib import Path

    from verified.io.jsonl import write_json
    from verified.weights.records import source_of
    from verified_search.config import IndexSettings
    from verified_search.store import describe
    from verified_search.update import update

    settings, files = IndexSettings(**snakemake.params.settings), dict(snakemake.input.items())
    weights = files.pop("weights", [])
    for name in ("annotations", "queries"):
        if name in files:
            files[name] = [files[name]] if isinstance(files[name], str) else list(files[name])
    encoder = source_of(settings.text_encoder, settings.text_revision, weights)[0]
    folder = Path(snakemake.output.record).with_suffix("")
    manifest = update(folder, files, settings.model_copy(update={"text_encoder": encoder}))
    for line in describe(manifest):
        log.info("%s", line)
    facts = ("model", "dataset", "videos", "clips", "build", "ranking", "weights")
    shown = {key: manifest[key] for key in facts}
    write_json(snakemake.output.record, shown)
