"""Write the card of the pretrained weights (see extensions/pretrained/rules.smk)."""

from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.runtime.project import PROJECT, commit
    from verified_pretrained.card import write_card

    params, inputs = snakemake.params, snakemake.input
    command = "snakemake --cores all pretrained --configfile extensions/pretrained/config/pretrained.yaml"
    plan = {"command": command, "seed": params.seed, "size": "tiny", **params.pretrained}
    plan["commit"] = commit(PROJECT).removeprefix("commit ")
    write_card(Path(inputs.evaluator).parent, Path(inputs.accuracy), plan, Path(snakemake.output.card))
