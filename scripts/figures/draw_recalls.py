"""Draw one main table of recalls as a picture with intervals (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.figures.recalls import draw_recalls, read_cells

    cells = read_cells(Path(snakemake.input.tables) / "all.csv")
    draw_recalls(cells, snakemake.wildcards.table, snakemake.params.title, snakemake.output)
