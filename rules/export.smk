from verified.export.forms import FORMS
from verified.export.paths import export_facts, export_folders, export_inputs


rule export:
    """Every data set in every form that the configuration asks for."""
    input:
        export_folders(settings),


rule export_form:
    """The annotations of a data set as others read them, with licence, splits, models, prompts and checksums."""
    input:
        unpack(export_inputs(settings)),
    output:
        directory("results/{dataset}/export/{form}"),
    log:
        "logs/{dataset}/export_form/{form}.log",
    wildcard_constraints:
        form="|".join(FORMS),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(120),
    params:
        code=code_of("export/write_form.py"),
        facts=export_facts(settings),
    script:
        "../scripts/export/write_form.py"
