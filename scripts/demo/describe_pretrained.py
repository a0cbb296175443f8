"""Write the card of the pretrained weights (see rules/demo.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.demo.pretrained.card import write_card
    from verified.runtime.job import set_threads
    from verified.runtime.project import PROJECT, commit

    params, inputs = snakemake.params, snakemake.input
    set_threads(params.threads)
    plan = {**params.plan, "commit": commit(PROJECT).removeprefix("commit ")}
    folder = Path(inputs.backbone).parent
    files = [Path(name) for name in (inputs.backbone_log, inputs.evaluator, inputs.evaluator_log)]
    write_card(folder, *files, plan, Path(snakemake.output.card))
