from verified.annotations.splits import captioned_files
from verified.config.features import CAPTIONS, OF_TEXT, OF_VIDEO, SMALL_RESNET
from verified.demo.pretrained import shipped_backbone
from verified.weights.wanted import text_records, video_records


wildcard_constraints:
    captions="|".join(CAPTIONS),


rule extract_video_features:
    """Features of the videos of a shard: frames at a fixed rate, max-pooled per clip (supplement B.1)."""
    input:
        videos=rules.probe_videos.output.videos,
        weights=video_records(settings),
        network=[f"{shipped_backbone()}/model.safetensors"] if settings.features.video_backbone == SMALL_RESNET else [],
    output:
        features="results/{dataset}/features/video/{shard}.h5",
    log:
        "logs/{dataset}/extract_video_features/{shard}.log",
    priority: CRITICAL_PATH - 1
    conda:
        "../envs/models.yaml"
    threads: settings.features.threads
    resources:
        **needs(4000, minutes=720, disk_mb=2000),
        gpu=settings.features.gpu,
    params:
        code=code_of("features/extract_video.py"),
        features=deciding(settings.features, OF_VIDEO),
        clip_seconds=of_dataset(lambda dataset: dataset.spans.clip_seconds),
    script:
        "../scripts/features/extract_video.py"


rule link_features:
    """One file of external links over the shards, as retrieval models expect one file."""
    input:
        videos=rules.build_corpus.output.videos,
        shards=layout.shards(rules.extract_video_features.output.features),
    output:
        features=layout.video_features,
    log:
        "logs/{dataset}/link_features.log",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("features/link.py"),
    script:
        "../scripts/features/link.py"


rule extract_text_features:
    """Token features of all captions of one kind: coarse, fine, or fine of the lowest confidence (supplement B.1)."""
    input:
        annotations=partial(captioned_files, settings),
        weights=text_records(settings),
    output:
        features=layout.text_features,
    log:
        "logs/{dataset}/extract_text_features/{captions}.log",
    priority: CRITICAL_PATH
    conda:
        "../envs/models.yaml"
    threads: settings.features.threads
    resources:
        **needs(4000, minutes=240, disk_mb=20000),
        gpu=settings.features.gpu,
    params:
        code=code_of("features/extract_text.py"),
        features=deciding(settings.features, OF_TEXT),
        caption=lambda wildcards: CAPTIONS[wildcards.captions][1],
    script:
        "../scripts/features/extract_text.py"
