from verified.corpus.shards import folder_state, scene_state, shard_state
from verified.corpus.source_files import division_of, shard_source, source_files, source_reading, split_settings


rule render_demo:
    """The synthetic demo as H.264 files, their coarse captions, and the truth about them."""
    output:
        videos=directory("results/{dataset}/corpus/videos"),
        moments="results/{dataset}/corpus/rendered.jsonl",
        truth=layout.truth,
    log:
        "logs/{dataset}/render_demo.log",
    wildcard_constraints:
        dataset=datasets("rendered"),
    conda:
        "../envs/data.yaml"
    threads: 4  # processes, on which no byte depends
    resources:
        **needs(1000, minutes=30, disk_mb=500),
    params:
        code=code_of("demo/render_corpus.py"),
        source=dataset_settings("source"),
        seed=settings.seed,
    script:
        "../scripts/demo/render_corpus.py"


rule list_moments:
    """The moments of a source that lists them itself: of a published collection, checked, all available splits."""
    input:
        files=of_dataset(lambda dataset: dataset.source.inputs()),
    output:
        moments="results/{dataset}/corpus/listed.jsonl",
    log:
        "logs/{dataset}/list_moments.log",
    wildcard_constraints:
        dataset=datasets("lists_moments"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=15),
    params:
        code=code_of("corpus/list_moments.py"),
        source=dataset_settings("source"),
        reader=of_dataset(lambda dataset: modules_digest(type(dataset.source).__module__)),
    script:
        "../scripts/corpus/list_moments.py"


rule probe_videos:
    """Moments and probed videos of one shard, all that jobs of the shard read of the corpus."""
    input:
        unpack(partial(shard_source, settings)),
    output:
        moments=layout.shard_moments,
        videos=layout.shard_videos,
        probes="results/{dataset}/corpus/shards/{shard}.probes.jsonl",
    log:
        "logs/{dataset}/probe_videos/{shard}.log",
    wildcard_constraints:
        dataset=filtered_pattern(settings, False),
    priority: CRITICAL_PATH
    conda:
        "../envs/data.yaml"
    resources:
        # 300 MB for the job that divides 1.3 million rows, 60 MB and a decoder for the others
        **needs(1000, minutes=120, disk_mb=200),
    params:
        code=code_of("corpus/probe_videos.py"),
        source=of_dataset(source_reading),
        shards=settings.shards,
        rows=of_shard(shard_state),
    script:
        "../scripts/corpus/probe_videos.py"


# Before an extension selects moments.
use rule probe_videos as find_moments with:
    output:
        moments="results/{dataset}/corpus/found/{shard}.moments.jsonl",
        videos="results/{dataset}/corpus/found/{shard}.videos.jsonl",
        probes="results/{dataset}/corpus/found/{shard}.probes.jsonl",
    log:
        "logs/{dataset}/find_moments/{shard}.log",
    wildcard_constraints:
        dataset=filtered_pattern(settings, True),
    priority: 0


rule detect_scenes:
    """Scenes of the videos of one shard: moments for videos that have none, and a check of this on the demo."""
    input:
        videos=lambda wildcards: source_files(settings, wildcards)["videos"],
    output:
        scenes="results/{dataset}/corpus/scenes/{shard}.jsonl",
    log:
        "logs/{dataset}/detect_scenes/{shard}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=240),
    params:
        code=code_of("corpus/detect_scenes.py"),
        proposals=dataset_settings("proposals"),
        shards=settings.shards,
        videos=of_shard(scene_state),
    script:
        "../scripts/corpus/detect_scenes.py"


rule hash_videos:
    """Hashes of four frames a second, by which copies and parts are found: they belong into one split."""
    input:
        videos=lambda wildcards: source_files(settings, wildcards)["videos"],
    output:
        hashes=layout.hashes,
    log:
        "logs/{dataset}/hash_videos/{shard}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=240),
    params:
        code=code_of("corpus/hash_videos.py"),
        shards=settings.shards,
        videos=of_shard(scene_state),
    script:
        "../scripts/corpus/hash_videos.py"


rule build_corpus:
    """Moments and probed videos of a source, and exclusions with their reasons."""
    input:
        unpack(partial(source_files, settings)),
        probes=layout.shards("results/{dataset}/corpus/shards/{shard}.probes.jsonl"),
        hashes=of_key(lambda *known: layout.shards(layout.hashes) if division_of(*known) else []),
    output:
        moments=layout.moments,
        videos=layout.videos,
        exclusions="results/{dataset}/corpus/exclusions.jsonl",
        counts="results/{dataset}/corpus/counts.json",
    log:
        "logs/{dataset}/build_corpus.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    priority: CRITICAL_PATH
    conda:
        "../envs/data.yaml"
    resources:
        # 330 MB for 1.3 million moments of 200,000 videos: rows pass one at a time
        **needs(1000, minutes=30, disk_mb=200),
    params:
        code=code_of("corpus/build.py"),
        source=of_dataset(source_reading),
        splits=of_key(split_settings),
        folder_state=of_dataset(lambda dataset: folder_state(dataset.source)),
    script:
        "../scripts/corpus/build.py"
