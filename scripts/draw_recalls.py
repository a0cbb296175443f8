"""Draw main tables 4 to 7 of a data set as pictures with intervals (see rules/figures.smk)."""

from verified.common.job import job

with job(snakemake):
    from pathlib import Path

    from verified.figures.recalls import TABLES, draw_recalls, read_cells

    cells = read_cells(Path(snakemake.input.tables) / "all.csv")
    for table in TABLES:
        draw_recalls(cells, table, snakemake.params.title, snakemake.output[table.replace("-", "_")])
