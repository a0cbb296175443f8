from verified.lmm.tasks.embedding import EMBEDDING
from verified_field import runs as field_runs
from verified_field.config import Rows
from verified_field.tasks import GRADE, GROUND

ROWS = settings.section(Rows)
FIRST = "results/{dataset}/retrieval/{first}/{trained_on}/seed-{seed}/{tested_on}"
GROUNDED = "results/{dataset}/retrieval/{first}-grounded/{trained_on}/seed-{seed}/{tested_on}"
RERANKED = "results/{dataset}/retrieval/{first}-reranked/{trained_on}/seed-{seed}/{tested_on}"


if ROWS.dense:

    rule embed_videos:
        """Vectors of the test videos of a shard by the role `embed`: a frame, or a clip, for every few seconds."""
        input:
            videos=rules.probe_videos.output.videos,
            moments=layout.moments,
            weights=role_records(settings, "embed"),
            cassettes=ASKING.cassettes("embed"),
        output:
            features="results/{dataset}/features/embedded/{shard}.h5",
            counts="results/{dataset}/features/embedded/{shard}.counts.json",
        log:
            "logs/{dataset}/embed_videos/{shard}.log",
        conda:
            "../../envs/asking.yaml"
        threads: settings.generation.threads
        resources:
            **ASKING.needs("embed", mb=4000, minutes=720, gpu_minutes=720),
        params:
            **ASKING.params([EMBEDDING], "embed"),
            code=code_of("extensions/field/scripts/embed_videos.py"),
            split=of_dataset(lambda dataset: dataset.spans.test_split),
        script:
            "scripts/embed_videos.py"

    rule rank_dense:
        """Test videos and windows by the cosine of vectors, without training, and their recall."""
        input:
            test=partial(field_runs.annotations_tested, settings),
            videos=layout.shards(layout.shard_videos),
            features=layout.shards(rules.embed_videos.output.features),
            weights=role_records(settings, "embed"),
            cassettes=ASKING.cassettes("embed"),
        output:
            submission="results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/submission.json.gz",
            metrics="results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/metrics.json",
            queries="results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/per_query.npz",
        log:
            "logs/{dataset}/rank_dense/{tested_on}.log",
        conda:
            "../../envs/asking.yaml"
        threads: settings.generation.threads
        resources:
            **ASKING.needs("embed", mb=4000, minutes=240),
        params:
            **ASKING.params([EMBEDDING], "embed", counts="metrics"),
            code=code_of("extensions/field/scripts/rank_dense.py"),
            spans=dataset_settings("spans"),
            facts=partial(field_runs.dense_facts, settings),
        script:
            "scripts/rank_dense.py"


if ROWS.grounder.first_stages or ROWS.reranker.first_stages:

    rule ground_videos:
        """The video LMM locates each query in the best videos of a first stage."""
        input:
            **ASKING.inputs([GROUND], "video_lmm"),
            first=f"{FIRST}/submission.json.gz",
            test=partial(field_runs.annotations_tested, settings),
            videos=layout.shards(layout.shard_videos),
        output:
            submission=f"{GROUNDED}/submission.json.gz",
            metrics=f"{GROUNDED}/metrics.json",
            queries=f"{GROUNDED}/per_query.npz",
        log:
            "logs/{dataset}/ground_videos/{first}-{trained_on}-{seed}-{tested_on}.log",
        wildcard_constraints:
            first="[a-z0-9_]+",
            trained_on="cog|fig|fig-lowest|untrained",
        retries: tries(1440)
        conda:
            f"../{ASKING.environment('video_lmm')}"
        threads: settings.generation.threads
        resources:
            **ASKING.needs("video_lmm", mb=4000, minutes=1440, gpu_minutes=1440),
        params:
            **ASKING.params([GROUND], "video_lmm", counts="metrics"),
            code=code_of("extensions/field/scripts/ask.py"),
            grounds=True,
            step=deciding(ROWS.grounder, ("frames", "videos")),
            nms_threshold=of_dataset(lambda dataset: dataset.spans.nms_threshold),
            seed=settings.seed,
            facts=partial(field_runs.follow_facts, settings, "grounder"),
        script:
            "scripts/ask.py"

    # The video LMM grades the best moments of a first stage.
    use rule ground_videos as rerank_moments with:
        input:
            **ASKING.inputs([GRADE], "video_lmm"),
            first=f"{FIRST}/submission.json.gz",
            test=partial(field_runs.annotations_tested, settings),
            videos=layout.shards(layout.shard_videos),
        output:
            submission=f"{RERANKED}/submission.json.gz",
            metrics=f"{RERANKED}/metrics.json",
            queries=f"{RERANKED}/per_query.npz",
        log:
            "logs/{dataset}/rerank_moments/{first}-{trained_on}-{seed}-{tested_on}.log",
        wildcard_constraints:
            first="[a-z0-9_]+(-grounded)?",
            trained_on="cog|fig|fig-lowest|untrained",
        params:
            generation=ASKING.values(GRADE),
            grounds=False,
            step=deciding(ROWS.reranker, ("frames", "moments")),
            facts=partial(field_runs.follow_facts, settings, "reranker"),
