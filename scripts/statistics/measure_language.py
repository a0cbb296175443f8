"""Measure words, vocabulary and parts of speech of all captions (see rules/statistics.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    import spacy

    from verified.io.fig import read_splits
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import key_of
    from verified.statistics.embeddings import KINDS, caption_lists
    from verified.statistics.language import load_tagger, measure_lists

    rows = read_splits(snakemake.input.annotations)
    tagger = load_tagger(snakemake.params.spacy_model)
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
    for name, key in zip(("cog", "fig"), KINDS, strict=True):
        lists = [(f"{split}, {key}", texts) for split, texts in caption_lists(rows, key).items()]
        result[name] = measure_lists(lists, tagger, snakemake.params.threads)
    write_json(snakemake.output[0], result)
