from verified.corpus.source_files import (
    folder_state,
    hashes_to_divide,
    source_inputs,
    scene_state,
    shard_source,
    shard_state,
    source_code,
    source_files,
    source_reading,
    split_settings,
    video_folder,
)


rule render_demo:
    """The demo world as H.264 files, their coarse captions, and the truth about them."""
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
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(30),
        disk_mb=500,
    params:
        code=code_of("demo/render_corpus.py"),
        source=dataset_settings("source"),
        seed=settings.seed,
    script:
        "../scripts/demo/render_corpus.py"


rule list_moments:
    """The moments of a source that knows them itself: of a published collection, checked, all splits that are at hand."""
    input:
        files=source_inputs(settings),
    output:
        moments="results/{dataset}/corpus/listed.jsonl",
    log:
        "logs/{dataset}/list_moments.log",
    wildcard_constraints:
        dataset=datasets("lists_moments"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(15),
    params:
        code=code_of("corpus/list_moments.py"),
        source=dataset_settings("source"),
        reader=source_code(settings),
    script:
        "../scripts/corpus/list_moments.py"


rule probe_videos:
    """Moments and probed videos of one shard, all that jobs of the shard read of the corpus."""
    input:
        unpack(shard_source(settings)),
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
        mem_mb=scale_by_attempt(1000),  # 300 MB for the job that divides 1.3 million rows, 60 MB and a decoder for the others
        runtime=minutes(120),
        disk_mb=200,
    params:
        code=code_of("corpus/probe_videos.py"),
        source=source_reading(settings),
        shards=settings.shards,
        rows=shard_state(settings),
    script:
        "../scripts/corpus/probe_videos.py"


rule detect_scenes:
    """Scenes of the videos of one shard: moments for videos that have none, and a check of this on the demo."""
    input:
        unpack(video_folder(settings)),
    output:
        scenes="results/{dataset}/corpus/scenes/{shard}.jsonl",
    log:
        "logs/{dataset}/detect_scenes/{shard}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(240),
    params:
        code=code_of("corpus/detect_scenes.py"),
        proposals=dataset_settings("proposals"),
        shards=settings.shards,
        videos=scene_state(settings),
    script:
        "../scripts/corpus/detect_scenes.py"


rule hash_videos:
    """Hashes of four frames a second, by which copies and parts are found: they belong into one split."""
    input:
        unpack(video_folder(settings)),
    output:
        hashes=layout.hashes,
    log:
        "logs/{dataset}/hash_videos/{shard}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(240),
    params:
        code=code_of("corpus/hash_videos.py"),
        shards=settings.shards,
        videos=scene_state(settings),
    script:
        "../scripts/corpus/hash_videos.py"


rule build_corpus:
    """Moments and probed videos of a source, and what had to be left out, with the reason."""
    input:
        unpack(source_files(settings)),
        probes=layout.shards("results/{dataset}/corpus/shards/{shard}.probes.jsonl"),
        hashes=hashes_to_divide(settings),
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
        mem_mb=scale_by_attempt(1000),  # 330 MB for 1.3 million moments of 200,000 videos: rows pass one at a time
        runtime=minutes(30),
        disk_mb=200,
    params:
        code=code_of("corpus/build.py"),
        source=source_reading(settings),
        splits=split_settings(settings),
        folder_state=folder_state(settings),
    script:
        "../scripts/corpus/build.py"
