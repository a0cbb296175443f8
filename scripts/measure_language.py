"""Measure words, vocabulary and parts of speech of all captions (see rules/statistics.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.threads):
    import spacy

    from verified.common.fig import read_splits
    from verified.common.folders import key_of
    from verified.common.jsonl import write_json
    from verified.statistics.language import load_tagger, measure

    rows = read_splits(snakemake.input.annotations)
    tagger = load_tagger(snakemake.params.model)
    result = {
        "dataset": key_of(snakemake.wildcards.dataset),
        "splits": list(dict.fromkeys(row["split"] for row in rows)),
        "missing_splits": list(snakemake.params.missing),
        "model": {
            "name": f"{tagger.meta['lang']}_{tagger.meta['name']}",
            "version": tagger.meta["version"],
            "spacy": spacy.__version__,
        },
    }
    for name, key in (("cog", "cog_desc"), ("fig", "fig_desc")):
        texts = [row[key] for row in rows if key in row]
        result[name] = measure(texts, tagger, snakemake.params.threads, f"language, {name}")
    write_json(snakemake.output[0], result)
