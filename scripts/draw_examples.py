"""Draw generated examples (see rules/figures.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_jsonl
    from verified.figures.examples import FIGURES, Material, by_moment, picks
    from verified.figures.rows import draw_rows, keyframes_of

    given = snakemake.input

    def rows(paths):
        return [row for path in paths for row in read_jsonl(path)]

    material = Material(
        annotations=read_jsonl(given.annotations),
        scores=by_moment(rows(given.scores)),
        captions={(row["desc_id"], row["type"]): row for row in rows(given.captions)},
        perturbations={row["desc_id"]: row for row in rows(given.perturbations)},
        seed=snakemake.params.seed,
    )
    chosen = picks(material)
    frames = keyframes_of(given.keyframes, {row["desc_id"] for picked in chosen.values() for row in picked})
    for name, paint in FIGURES.items():
        lines = paint(chosen[name], frames, material)
        draw_rows(lines, snakemake.output[name], "no two moments of the test split share a coarse caption")
