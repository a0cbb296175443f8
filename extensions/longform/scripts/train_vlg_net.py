"""Train VLG-Net."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.config.params import received
    from verified.io.jsonl import write_jsonl
    from verified_longform.config import VlgNet
    from verified_longform.experiment import train_vlg_net
    from verified_longform.grid import Grid

    params = snakemake.params
    grid, settings = received(Grid, params.grid), received(VlgNet, params.settings)
    record = train_vlg_net(params.mixture, grid, settings, params.seed, snakemake.output.checkpoint, params.code)
    write_jsonl(snakemake.output.record, record)
