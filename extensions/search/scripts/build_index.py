"""Bring the search index of a corpus up to date."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["retrieval"]["threads"]) as log:
    from pathlib import Path

    from verified.config.params import received
    from verified.io.jsonl import write_json
    from verified.weights.records import source_of
    from verified_search.config import IndexSettings, encoder_keys
    from verified_search.store import describe
    from verified_search.update import update

    settings, files = received(IndexSettings, snakemake.params.settings), dict(snakemake.input.items())
    weights = files.pop("weights", [])
    for name in ("annotations", "queries"):
        if name in files:
            files[name] = [files[name]] if isinstance(files[name], str) else list(files[name])
    features, (name, revision) = settings.features, encoder_keys(settings.model)
    encoder = source_of(getattr(features, name), getattr(features, revision), weights)[0]
    settings = settings.model_copy(update={"features": features.model_copy(update={name: encoder})})
    folder = Path(snakemake.output.record).with_suffix("")
    manifest = update(folder, files, settings)
    for line in describe(manifest):
        log.info("%s", line)
    facts = ("model", "dataset", "videos", "clips", "build", "ranking", "weights")
    shown = {key: manifest[key] for key in facts}
    write_json(snakemake.output.record, shown)
