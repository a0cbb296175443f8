"""Train VLG-Net (see rules/longform_models.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.benchmark.mad.experiment import make_grid, train_vlg_net
    from verified.io.jsonl import write_jsonl

    params = snakemake.params
    record = train_vlg_net(
        params.mixture, make_grid(params.grid), params.settings, params.seed, snakemake.output.checkpoint, params.code
    )
    write_jsonl(snakemake.output.record, record)
