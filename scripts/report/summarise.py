"""Write the summary of the report's front page and the list of verdicts (see rules/report.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.io.jsonl import read_json
    from verified.report.front import Corpus
    from verified.report.summary import write_summary

    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    write_summary(
        Path(inputs.tables),
        Path(outputs.summary),
        Path(outputs.verdicts),
        params.leading,
        params.warning,
        [Corpus.read(facts) for facts in params.corpora],
        params.models,
        [check for path in inputs.validity for check in read_json(path)["checks"]],
    )
