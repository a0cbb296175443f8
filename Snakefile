from snakemake.utils import min_version

min_version("9.0")


if not workflow.overwrite_configfiles:

    configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/keyframes.smk"


rule all:
    default_target: True
    input:
        "results/tables",
