"""Download one published file (see rules/released.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.released.files import SourceFile, download

    download(SourceFile(**snakemake.params.file), snakemake.output[0])
