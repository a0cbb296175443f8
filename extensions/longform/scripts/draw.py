"""Figures of long-form grounding."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.io.jsonl import read_json, read_jsonl
    from verified_longform.figures import draw_example, draw_lengths, draw_moments
    from verified_longform.recall_tables import METHODS

    movies = [entry for entry in map(read_json, snakemake.input.statistics) if entry["kind"] == "movies"]
    output = snakemake.output
    splits = [
        (f"{entry['title']}, {split}", entry[split]["histograms"])
        for entry in movies
        for split in ("train", "val/test")
        if split in entry
    ]
    draw_moments(splits, output.splits)
    curves = []
    for path in map(Path, snakemake.input.results):
        result = read_json(path)
        lengths = [measure["seconds"] for measure in result["lengths"]]
        method = "chance" if path.name == "baselines.json" else path.parent.name
        name = METHODS.get(method, f"VLG-Net, {method}")  # a training of VLG-Net has the name of its data
        recalls = [measure.get("chance", measure)["recall"] for measure in result["lengths"]]
        curves.append(
            (name, lengths, {1: [recall[0][2] for recall in recalls], 5: [recall[1][2] for recall in recalls]})
        )
    draw_lengths(curves, output.lengths)
    draw_example(read_jsonl(snakemake.input.example[0]), output.example)
