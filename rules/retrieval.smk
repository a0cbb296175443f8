from verified.benchmark.vcmr import jobs as vcmr
from verified.benchmark.vcmr.registry import model_names
from verified.weights.wanted import retrieval_records, text_records


wildcard_constraints:
    model="|".join(model_names()),
    trained_on="cog|fig|fig-lowest",
    tested_on="cog|fig",
    seed=r"\d+",


with StopsRun():
    vcmr.check_second_streams(settings)


ruleorder: link_released_features > link_features
ruleorder: link_released_features > extract_text_features


rule link_released_features:
    """Features that are given as files (see `features_dir`), by links instead of copies."""
    input:
        given=of_dataset(lambda dataset: f"{dataset.source.given_features}/{{features}}.h5"),
    output:
        features="results/{dataset}/features/{features}.h5",
    log:
        "logs/{dataset}/link_released_features/{features}.log",
    wildcard_constraints:
        dataset=datasets("given_features"),
        features="video|second|text-cog|text-fig",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(1000, minutes=10, disk_mb=100),
    params:
        code=code_of("retrieval/link_released_features.py"),
    script:
        "../scripts/retrieval/link_released_features.py"


rule train_model:
    """One training: a model, the captions it learns from, a seed (section 4, supplement B)."""
    input:
        unpack(partial(vcmr.training_inputs, settings)),
        weights=partial(retrieval_records, settings),
    output:
        checkpoint="results/{dataset}/retrieval/{model}/{trained_on}/seed-{seed}/checkpoint.safetensors",
        record="results/{dataset}/retrieval/{model}/{trained_on}/seed-{seed}/log.jsonl",
    log:
        "logs/{dataset}/train_model/{model}-{trained_on}-{seed}.log",
    priority: partial(vcmr.training_priority, settings)
    retries: tries(1440)
    conda:
        "../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(settings.retrieval.memory_mb + 4000, minutes=1440, disk_mb=2000),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("retrieval/train.py"),
        settings=partial(vcmr.training_settings, settings),
        model_code=vcmr.model_code,
    script:
        "../scripts/retrieval/train.py"


rule rank_training_videos:
    """XML's ranked lists for the queries that two-stage models are trained and selected on."""
    input:
        unpack(partial(vcmr.ranking_inputs, settings)),
        checkpoint="results/{dataset}/retrieval/xml/{trained_on}/seed-{seed}/checkpoint.safetensors",
    output:
        ranked="results/{dataset}/retrieval/xml/{trained_on}/seed-{seed}/ranked-train.h5",
    log:
        "logs/{dataset}/rank_training_videos/{trained_on}-{seed}.log",
    priority: CRITICAL_PATH
    conda:
        "../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(settings.retrieval.memory_mb + 3000, minutes=120, disk_mb=500),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("retrieval/rank_videos.py"),
        settings=of_key(vcmr.ranking_settings),
        captions="{trained_on}",
        model_code=vcmr.model_code,
    script:
        "../scripts/retrieval/rank_videos.py"


# Ranked lists for the test queries.
use rule rank_training_videos as rank_test_videos with:
    input:
        unpack(partial(vcmr.testing_inputs, settings)),
        checkpoint="results/{dataset}/retrieval/xml/{trained_on}/seed-{seed}/checkpoint.safetensors",
    output:
        ranked="results/{dataset}/retrieval/xml/{trained_on}/seed-{seed}/{tested_on}/ranked-test.h5",
    log:
        "logs/{dataset}/rank_test_videos/{trained_on}-{seed}-{tested_on}.log",
    priority: 0
    params:
        captions="{tested_on}",


rule test_model:
    """VR, SVMR and VCMR lists of a trained model, and their recall with intervals (section 4, supplement B)."""
    input:
        unpack(partial(vcmr.testing_inputs, settings)),
        weights=text_records(settings),
        checkpoint=rules.train_model.output.checkpoint,
    output:
        submission="results/{dataset}/retrieval/{model}/{trained_on}/seed-{seed}/{tested_on}/submission.json.gz",
        metrics="results/{dataset}/retrieval/{model}/{trained_on}/seed-{seed}/{tested_on}/metrics.json",
        queries="results/{dataset}/retrieval/{model}/{trained_on}/seed-{seed}/{tested_on}/per_query.npz",
    log:
        "logs/{dataset}/test_model/{model}-{trained_on}-{seed}-{tested_on}.log",
    conda:
        "../envs/models.yaml"
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
        "../scripts/retrieval/test.py"
