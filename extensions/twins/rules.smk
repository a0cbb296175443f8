from verified.benchmark.vcmr.jobs import run_folders, testing_inputs
from verified.config.features import CAPTIONS
from verified_twins.config import Twins

TWIN_KINDS = list(settings.section(Twins).kinds)
TWIN_FOLDER = "results/{dataset}/twins/{twin}"
TWIN_TEST = f"{TWIN_FOLDER}/retrieval/{{model}}/{{trained_on}}/seed-{{seed}}/{{tested_on}}"


wildcard_constraints:
    twin="|".join(TWIN_KINDS),


def coarse_test_file(wildcards):
    split = settings.datasets[key_of(wildcards.dataset)].spans.test_split
    return layout.path(layout.annotations, wildcards.dataset, kind=CAPTIONS["cog"][0], split=split)


def twin_inputs(wildcards):
    """What a test reads, with the twins' sentences in place of the true ones."""
    inputs = testing_inputs(settings, wildcards)
    folder = f"results/{wildcards.dataset}/twins/{wildcards.twin}"
    inputs |= {"test": f"{folder}/test.jsonl", "text": f"{folder}/features/text-cog.h5"}
    if "ranked" in inputs:
        training = f"{folder}/retrieval/xml/{wildcards.trained_on}/seed-{wildcards.seed}"
        inputs["ranked"] = f"{training}/{wildcards.tested_on}/ranked-test.h5"
    return inputs


def true_submissions(wildcards):
    """Of each model, by training."""
    return [
        f"{folder}/submission.json.gz"
        for model in settings.retrieval.models
        for folder in run_folders(settings, key_of(wildcards.dataset), (model, "fig", "cog"))
    ]


def twin_submissions(wildcards):
    """Of each model, by kind of twin and training."""
    return [
        f"results/{wildcards.dataset}/twins/{kind}/retrieval/{model}/fig/seed-{seed}/cog/submission.json.gz"
        for model in settings.retrieval.models
        for kind in TWIN_KINDS
        for seed in settings.retrieval.seeds_of(model)
    ]


rule list_twins:
    """The twins of the test queries: perturbed captions (Equation 8), and those made by rule."""
    input:
        test=coarse_test_file,
        perturbations=layout.shards(layout.perturbations),
    output:
        asked=expand("results/{{dataset}}/twins/{twin}/test.jsonl", twin=TWIN_KINDS),
        listed=expand("results/{{dataset}}/twins/{twin}/twins.jsonl", twin=TWIN_KINDS),
    log:
        "logs/{dataset}/list_twins.log",
    conda:
        "../../envs/models.yaml"
    threads: settings.statistics.threads
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(60),
    params:
        code=code_of("extensions/twins/scripts/list_twins.py"),
        kinds=TWIN_KINDS,
        spacy_model=settings.statistics.spacy_model,
        threads=settings.statistics.threads,
    script:
        "scripts/list_twins.py"


rule extract_twin_features:
    """Token features of the twins, as of all captions."""
    input:
        annotations=[f"{TWIN_FOLDER}/test.jsonl"],
        weights=text_records(settings),
    output:
        features=f"{TWIN_FOLDER}/features/text-cog.h5",
    log:
        "logs/{dataset}/extract_twin_features/{twin}.log",
    conda:
        "../../envs/models.yaml"
    threads: settings.features.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
        disk_mb=20000,
        gpu=settings.features.gpu,
    params:
        code=code_of("features/extract_text.py"),
        settings=rules.extract_text_features.params.settings,
        caption=CAPTIONS["cog"][1],
    script:
        "../../scripts/features/extract_text.py"


rule rank_twin_videos:
    """XML's ranked lists for the twins."""
    input:
        unpack(twin_inputs),
        checkpoint="results/{dataset}/retrieval/xml/{trained_on}/seed-{seed}/checkpoint.safetensors",
    output:
        ranked=f"{TWIN_FOLDER}/retrieval/xml/{{trained_on}}/seed-{{seed}}/{{tested_on}}/ranked-test.h5",
    log:
        "logs/{dataset}/rank_twin_videos/{twin}-{trained_on}-{seed}-{tested_on}.log",
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        mem_mb=scale_by_attempt(settings.retrieval.memory_mb + 3000),
        runtime=minutes(120),
        disk_mb=500,
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("retrieval/rank_videos.py"),
        settings=of_key(search_values),
        captions="{tested_on}",
        model_code=model_code,
    script:
        "../../scripts/retrieval/rank_videos.py"


rule test_on_twins:
    """The lists of a trained model for the twins."""
    input:
        unpack(twin_inputs),
        weights=text_records(settings),
        checkpoint=rules.train_model.output.checkpoint,
        record=rules.train_model.output.record,
    output:
        submission=f"{TWIN_TEST}/submission.json.gz",
        metrics=f"{TWIN_TEST}/metrics.json",
        queries=f"{TWIN_TEST}/per_query.npz",
    log:
        "logs/{dataset}/test_on_twins/{twin}-{model}-{trained_on}-{seed}-{tested_on}.log",
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        mem_mb=scale_by_attempt(settings.retrieval.memory_mb + 3000),
        runtime=minutes(240),
        disk_mb=2000,
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("retrieval/test.py"),
        settings=of_key(search_values),
        settings_sha256=partial(settings_digest, settings),
        model_code=model_code,
    script:
        "../../scripts/retrieval/test.py"


rule measure_twins:
    """How often each model prefers the true sentence to its twin."""
    input:
        test=coarse_test_file,
        listed=expand("results/{{dataset}}/twins/{twin}/twins.jsonl", twin=TWIN_KINDS),
        true=true_submissions,
        twin=twin_submissions,
    output:
        "results/{dataset}/twins/accuracy.json",
    log:
        "logs/{dataset}/measure_twins.log",
    conda:
        "../../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(60),
    params:
        code=code_of("extensions/twins/scripts/measure_twins.py"),
        kinds=TWIN_KINDS,
        trainings={model: len(settings.retrieval.seeds_of(model)) for model in settings.retrieval.models},
    script:
        "scripts/measure_twins.py"
