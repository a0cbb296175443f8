from dataclasses import astuple

from verified.weights.wanted import umt_stem
from verified.planning.stages import wanted_models

FETCHED = {wanted.slug: wanted for wanted in wanted_models(settings)}


localrules:
    fetch_model,
    fetch_umt,


rule fetch_model:
    """One model of the hub at the commit of the lock file, every byte checked; jobs then load it with the hub offline."""
    output:
        record=f"{HOME}/weights/{{model}}.json",
    log:
        f"logs/{settings.name}/fetch_model/{{model}}.log",
    wildcard_constraints:
        model=one_of(FETCHED),
    conda:
        "../envs/models.yaml"
    resources:
        **needs(1000, minutes=240, disk_mb=20000),
    params:
        code=code_of("weights/fetch_model.py"),
        model=lambda wildcards: astuple(FETCHED[wildcards.model]),
        weights=deciding(settings.weights),
    script:
        "../scripts/weights/fetch_model.py"


rule fetch_umt:
    """UMT's checkpoint from its address, checked against the configuration and the lock file."""
    output:
        umt="{umt}.pth",
    log:
        f"logs/{settings.name}/fetch_umt/{{umt}}.log",
    wildcard_constraints:
        umt=umt_stem(settings) if settings.evaluator.umt_url else "(?!)",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(1000, minutes=240, disk_mb=10000),
    params:
        code=code_of("weights/fetch_umt.py"),
        evaluator=deciding(settings.evaluator, ("umt_file", "umt_sha256", "umt_url")),
        lock=settings.weights.lock,
    script:
        "../scripts/weights/fetch_umt.py"


rule import_umt:
    """UMT's checkpoint as safetensors: every tensor accounted for, the pickle read in a separate process."""
    input:
        umt="{umt}.pth",
    output:
        checkpoint="{umt}.safetensors",
    log:
        f"logs/{settings.name}/import_umt/{{umt}}.log",
    wildcard_constraints:
        umt=umt_stem(settings),
    conda:
        "../envs/models.yaml"
    resources:
        **needs(16000, minutes=30, disk_mb=5000),
    params:
        code=code_of("weights/import_umt.py"),
        evaluator=deciding(settings.evaluator, ("frames", "image_size", "size", "umt_file", "umt_sha256", "umt_url")),
        lock=settings.weights.lock,
    script:
        "../scripts/weights/import_umt.py"
