from dataclasses import asdict

from verified.annotations.splits import annotation_files, check_releases
from verified.released.collections import DOWNLOADS
from verified.released.files import read_sources
from verified.planning.stages import check_supplied

with StopsRun():
    check_releases(settings)
    check_supplied(settings)

OPEN = {file.place: file for file in read_sources() if file.access == "open"}


rule download_released:
    """One published file, resumed where it stopped and refused when its checksum is wrong."""
    output:
        f"{DOWNLOADS.as_posix()}/{{place}}",
    log:
        "logs/download_released/{place}.log",
    wildcard_constraints:
        place=one_of(OPEN),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(500, minutes=60, disk_mb=500),
    params:
        code=code_of("corpus/download_released.py"),
        file=lambda wildcards: asdict(OPEN[wildcards.place]),
    script:
        "../scripts/corpus/download_released.py"


rule read_released:
    """One split of a finished collection: checksums, every row checked, the same bytes or the coarse captions in FIG form."""
    input:
        files=of_dataset(lambda dataset: dataset.source.inputs()),
    output:
        annotations=layout.annotations,
    log:
        "logs/{dataset}/read_released/{kind}-{split}.log",
    wildcard_constraints:
        dataset=datasets("annotations_given"),
        kind="fig|cog",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=15),
    params:
        code=code_of("corpus/read_released.py"),
        source=dataset_settings("source"),
    script:
        "../scripts/corpus/read_released.py"


rule list_released_moments:
    """The moments of a finished collection, ends clamped to the video, and exclusions with their reasons."""
    input:
        annotations=of_key(annotation_files),
    output:
        moments=layout.moments,
        exclusions="results/{dataset}/corpus/exclusions.jsonl",
    log:
        "logs/{dataset}/list_released_moments.log",
    wildcard_constraints:
        dataset=datasets("annotations_given"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=15),
    params:
        code=code_of("corpus/list_released_moments.py"),
    script:
        "../scripts/corpus/list_released_moments.py"
