from verified.annotations.splits import annotation_files, missing_splits


rule measure_language:
    """Words, vocabulary and parts of speech of coarse and fine captions (Table 1); no file is tagged twice."""
    input:
        annotations=of_key(annotation_files),
    output:
        "results/{dataset}/statistics/language.json",
    log:
        "logs/{dataset}/measure_language.log",
    conda:
        "../envs/models.yaml"
    threads: settings.statistics.threads
    resources:
        **needs(2000, minutes=60),
    params:
        code=code_of("statistics/measure_language.py"),
        missing=of_key(missing_splits),
        spacy_model=settings.statistics.spacy_model,
        threads=settings.statistics.threads,
    script:
        "../scripts/statistics/measure_language.py"


rule embed_captions:
    """Sentence embeddings of all distinct captions."""
    input:
        annotations=of_key(annotation_files),
        weights=sentence_records(settings),
    output:
        "results/{dataset}/statistics/embeddings.npz",
    log:
        "logs/{dataset}/embed_captions.log",
    conda:
        "../envs/models.yaml"
    threads: settings.statistics.threads
    resources:
        **needs(2000, minutes=120),
    params:
        code=code_of("statistics/embed_captions.py"),
        sentences=settings.generation.sentence_model,
        threads=settings.statistics.threads,
    script:
        "../scripts/statistics/embed_captions.py"


rule count_many_to_many:
    """Classes and instances of captions that cannot tell moments apart (Table 2)."""
    input:
        annotations=of_key(annotation_files),
        embeddings=rules.embed_captions.output[0],
    output:
        "results/{dataset}/statistics/many_to_many.json",
    log:
        "logs/{dataset}/count_many_to_many.log",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(2000, minutes=60),
    params:
        code=code_of("statistics/count_many_to_many.py"),
        missing=of_key(missing_splits),
        distance=settings.statistics.distance,
        min_samples=settings.statistics.min_samples,
    script:
        "../scripts/statistics/count_many_to_many.py"


rule summarise_annotations:
    """Confidence scores and time spans (supplement Table 1, Figure 4)."""
    input:
        annotations=of_key(annotation_files),
    output:
        confidence="results/{dataset}/statistics/confidence.json",
        spans="results/{dataset}/statistics/spans.json",
    log:
        "logs/{dataset}/summarise_annotations.log",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("statistics/summarise.py"),
        missing=of_key(missing_splits),
    script:
        "../scripts/statistics/summarise.py"


rule project_clusters:
    """Coordinates of captions that cluster when coarse, before and after fine annotation (supplement Figure 5)."""
    input:
        annotations=of_key(annotation_files),
        embeddings=rules.embed_captions.output[0],
    output:
        "results/{dataset}/statistics/clusters.json",
    log:
        "logs/{dataset}/project_clusters.log",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(2000, minutes=60),
    params:
        code=code_of("statistics/project_clusters.py"),
        distance=settings.statistics.distance,
        min_samples=settings.statistics.figure_min_samples,
        seed=settings.seed,
    script:
        "../scripts/statistics/project_clusters.py"
