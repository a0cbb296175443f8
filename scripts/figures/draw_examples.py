"""Draw generated examples (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.figures.examples import FIGURES, Material, first_with_rows, group_by_moment, picks
    from verified.figures.pipeline import draw_pipeline
    from verified.figures.rows import draw_rows, keyframes_of
    from verified.io.jsonl import read_jsonl

    inputs = snakemake.input

    def rows(paths):
        return [row for path in paths for row in read_jsonl(path)]

    annotations, split = first_with_rows(inputs.annotations)
    material = Material(
        annotations=annotations,
        scores=group_by_moment(rows(inputs.scores)),
        captions={(row["desc_id"], row["type"]): row for row in rows(inputs.captions)},
        perturbations={row["desc_id"]: row for row in rows(inputs.perturbations)},
        seed=snakemake.params.seed,
        split=split,
    )
    picked_rows = picks(material)
    frames = keyframes_of(inputs.keyframes, {row["desc_id"] for picked in picked_rows.values() for row in picked})
    for name, compose in FIGURES.items():
        draw_rows(compose(picked_rows[name], frames, material), snakemake.output[name])
    draw_pipeline(picked_rows["pipeline"][0], frames, material, snakemake.output.pipeline)
