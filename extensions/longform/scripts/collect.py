"""Collect grounded sentences from the tracks of a movie."""

from verified.runtime.job import job

with job(snakemake):
    from contextlib import ExitStack
    from pathlib import Path

    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import write_json
    from verified_longform.collection import collect_part
    from verified_longform.config import Collection
    from verified_longform.listening import listening

    manifest = Path(snakemake.input.manifest)
    params = snakemake.params
    generation = received(Generation, params.generation)
    with ExitStack() as stack:
        listen = stack.enter_context(listening(generation, params.seed)) if generation.speech else None
        collected = collect_part(
            manifest / "manifest.csv" if manifest.is_dir() else manifest,
            snakemake.wildcards.part,
            received(Collection, params.settings),
            listen,
        )
    write_json(snakemake.output.part, collected)
