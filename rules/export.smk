from verified.export.facts import export_facts, export_folders, export_inputs
from verified.export.forms import FORMS, module_of


rule export:
    """Every data set in every form that the configuration asks for."""
    input:
        export_folders(settings, settings.export.forms),


rule export_form:
    """The annotations of a data set as others read them, with licence, splits, models, prompts and checksums."""
    input:
        unpack(lambda wildcards: export_inputs(settings, key_of(wildcards.dataset), wildcards.form)),
    output:
        directory("results/{dataset}/export/{form}"),
    log:
        "logs/{dataset}/export_form/{form}.log",
    wildcard_constraints:
        form=one_of(FORMS),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(4000, minutes=120),
    params:
        code=code_of("export/write_form.py"),
        form_code=lambda wildcards: modules_digest(module_of(wildcards.form)),
        facts=lambda wildcards: export_facts(settings, key_of(wildcards.dataset), wildcards.form),
    script:
        "../scripts/export/write_form.py"
