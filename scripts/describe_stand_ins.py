"""Write the card of the stand-ins (see rules/stand_ins.smk)."""

from pathlib import Path

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    import verified
    from verified.common.job import set_threads
    from verified.stand_ins.card import write_card
    from verified.tables.provenance import commit

    params, given = snakemake.params, snakemake.input
    set_threads(params.threads)
    plan = {**params.plan, "commit": commit(Path(verified.__file__).parents[2]).removeprefix("commit ")}
    folder = Path(given.backbone).parent
    files = [Path(name) for name in (given.backbone_log, given.evaluator, given.evaluator_log)]
    write_card(folder, *files, plan, Path(snakemake.output.card))
