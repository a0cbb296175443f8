"""How often each model prefers the true sentence to its twin (see extensions/twins/rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.benchmark.vcmr.submission import read_truth
    from verified.io.jsonl import read_jsonl, write_json
    from verified.runtime.wildcards import key_of
    from verified_twins.accuracy import measure

    truth, params = read_truth(snakemake.input.test), snakemake.params
    true, twin = map(iter, (snakemake.input.true, snakemake.input.twin))
    lists = dict(zip(params.kinds, snakemake.input.listed))
    ids = {kind: [row["desc_id"] for row in read_jsonl(file)] for kind, file in lists.items()}
    models = {}
    for model, trainings in params.trainings.items():
        trues = [Path(next(true)) for _ in range(trainings)]
        models[model] = {}
        for kind in params.kinds:
            pairs = [(each, Path(next(twin))) for each in trues]
            if ids[kind]:
                result = {"queries": len(ids[kind]), "trainings": trainings, "tasks": measure(truth, pairs, ids[kind])}
                models[model][kind] = result
    write_json(snakemake.output[0], {"dataset": key_of(snakemake.wildcards.dataset), "models": models})
