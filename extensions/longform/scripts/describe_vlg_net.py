"""Write the card of a trained VLG-Net."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.runtime.project import PROJECT, commit
    from verified_longform.pretrained.card import write_card

    params, inputs = snakemake.params, snakemake.input
    plan = {**params.plan[snakemake.wildcards.movies], "commit": commit(PROJECT).removeprefix("commit ")}
    files = (inputs.checkpoint, inputs.record, inputs.rows, inputs.metrics, inputs.encoder)
    weights, record, rows, metrics, encoder = map(Path, files)
    write_card(weights, record, rows, metrics, encoder, plan, Path(snakemake.output.card))
