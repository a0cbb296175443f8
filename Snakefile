from snakemake.utils import min_version

min_version("9.17")


include: "rules/common.smk"
include: "rules/weights.smk"
include: "rules/corpus.smk"
include: "rules/released.smk"
include: "rules/generation.smk"
include: "rules/keyframes.smk"
include: "rules/captions.smk"
include: "rules/perturbations.smk"
include: "rules/outcomes.smk"
include: "rules/evaluator.smk"
include: "rules/validation.smk"
include: "rules/annotations.smk"
include: "rules/features.smk"
include: "rules/retrieval.smk"
include: "rules/statistics.smk"


for extension in extensions():
    if extension.is_on(settings):

        include: f"extensions/{extension.name}/rules.smk"


include: "rules/figures.smk"
include: "rules/tables.smk"
include: "rules/validity.smk"
include: "rules/report.smk"
include: "rules/study.smk"
include: "rules/own_corpus.smk"
include: "rules/export.smk"


rerun_incomplete(workflow, HOME)
announce(workflow.rules, workflow.configfiles)
with StopsRun():
    refuse_prefix(rules.build_corpus.output.moments)


rule all:
    default_target: True
    input:
        f"{HOME}/tables",


# A target that is not a file: it names the tables of the current configuration.
rule:
    name:
        "results/tables"
    input:
        f"{HOME}/tables",


onstart:
    disable_rate_limit(workflow)
    announce_latency(workflow.execution_settings.latency_wait)
    print_progress()


onsuccess:
    update_manifest(workflow, HOME, ended=True)
    if asks_for_tables(workflow):
        show(Path(HOME, "tables"))
        files, further = workflow.overwrite_configfiles, next_commands(settings)
        print(closing_message(Path(HOME, "tables"), leading_tables(settings), files, further))


onerror:
    for sentence in killed_jobs(workflow, HOME):
        print(sentence, file=sys.stderr)
    update_manifest(workflow, HOME, ended=True)
