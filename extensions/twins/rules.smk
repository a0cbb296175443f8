from verified.annotations.splits import annotation_file
from verified.config.features import CAPTIONS
from verified_twins.config import Twins
from verified_twins.jobs import true_submissions, twin_inputs, twin_submissions

TWIN_KINDS = list(settings.section(Twins).kinds)
TWIN_FOLDER = "results/{dataset}/twins/{twin}"
COARSE_TEST = of_key(
    lambda settings, key: annotation_file(settings, key, CAPTIONS["cog"][0], settings.datasets[key].spans.test_split)
)
TWIN_TEST = f"{TWIN_FOLDER}/retrieval/{{model}}/{{trained_on}}/seed-{{seed}}/{{tested_on}}"


wildcard_constraints:
    twin="|".join(TWIN_KINDS),


rule list_twins:
    """The twins of the test queries: perturbed captions (Equation 8), and those made by rule."""
    input:
        test=COARSE_TEST,
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
        **needs(2000, minutes=60),
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
        **needs(4000, minutes=240, disk_mb=20000),
        gpu=settings.features.gpu,
    params:
        code=code_of("features/extract_text.py"),
        features=rules.extract_text_features.params.features,
        caption=CAPTIONS["cog"][1],
    script:
        "../../scripts/features/extract_text.py"


rule rank_twin_videos:
    """XML's ranked lists for the twins."""
    input:
        unpack(partial(twin_inputs, settings)),
        checkpoint="results/{dataset}/retrieval/xml/{trained_on}/seed-{seed}/checkpoint.safetensors",
    output:
        ranked=f"{TWIN_FOLDER}/retrieval/xml/{{trained_on}}/seed-{{seed}}/{{tested_on}}/ranked-test.h5",
    log:
        "logs/{dataset}/rank_twin_videos/{twin}-{trained_on}-{seed}-{tested_on}.log",
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(settings.retrieval.memory_mb + 3000, minutes=120, disk_mb=500),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("retrieval/rank_videos.py"),
        settings=of_key(vcmr.ranking_settings),
        captions="{tested_on}",
        model_code=vcmr.model_code,
    script:
        "../../scripts/retrieval/rank_videos.py"


rule test_on_twins:
    """The lists of a trained model for the twins."""
    input:
        unpack(partial(twin_inputs, settings)),
        weights=text_records(settings),
        checkpoint=rules.train_model.output.checkpoint,
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
        **needs(settings.retrieval.memory_mb + 3000, minutes=240, disk_mb=2000),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("retrieval/test.py"),
        settings=of_key(vcmr.testing_settings),
        settings_sha256=partial(vcmr.settings_digest, settings),
        model_code=vcmr.model_code,
    script:
        "../../scripts/retrieval/test.py"


rule measure_twins:
    """How often each model prefers the true sentence to its twin."""
    input:
        test=COARSE_TEST,
        listed=expand("results/{{dataset}}/twins/{twin}/twins.jsonl", twin=TWIN_KINDS),
        true=of_key(true_submissions),
        twin=of_key(twin_submissions),
    output:
        "results/{dataset}/twins/accuracy.json",
    log:
        "logs/{dataset}/measure_twins.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(2000, minutes=60),
    params:
        code=code_of("extensions/twins/scripts/measure_twins.py"),
        kinds=TWIN_KINDS,
        trainings={model: len(settings.retrieval.seeds_of(model)) for model in settings.retrieval.names},
    script:
        "scripts/measure_twins.py"
