"""The twins of a data set's test queries (see extensions/twins/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.io.jsonl import iterate_jsonl, read_jsonl, write_jsonl
    from verified.statistics.language import load_tagger
    from verified_twins.sentences import twins_of

    rows = read_jsonl(snakemake.input.test)
    perturbed = [row for file in snakemake.input.perturbations for row in iterate_jsonl(file)]
    twins = twins_of(rows, perturbed, load_tagger(snakemake.params.spacy_model), snakemake.params.kinds)
    for kind, asked, listed in zip(snakemake.params.kinds, snakemake.output.asked, snakemake.output.listed):
        # Queries without a twin are used unchanged, so that every model searches the same videos.
        write_jsonl(asked, [{**row, "cog_desc": twins[kind].get(row["desc_id"], row["cog_desc"])} for row in rows])
        write_jsonl(
            listed,
            [
                {"desc_id": row["desc_id"], "true": row["cog_desc"], "twin": twins[kind][row["desc_id"]]}
                for row in rows
                if row["desc_id"] in twins[kind]
            ],
        )
        log.info("%s: %d of %d queries have a twin", kind, len(twins[kind]), len(rows))
