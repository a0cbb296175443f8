"""Download one published file (see rules/released.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.released.files import download, read_sources

    wanted = next(file for file in read_sources() if file.place == snakemake.wildcards.place)
    download(wanted, snakemake.output[0])
