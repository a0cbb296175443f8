rule describe_films:
    """A row of Tables 1 and 7 with its histograms, of a data set of films."""
    input:
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
    output:
        f"{FILMS}/{{films}}/statistics.json",
    log:
        f"{FILM_LOGS}/describe_films/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/describe_films/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(120),
    params:
        kind="films",
        title=lambda wildcards: film_paths.film_sets(settings)[wildcards.films].title,
        model=settings.statistics.spacy_model,
        processes=settings.longform.processes,
    script:
        "../scripts/mad/describe.py"


rule describe_dataset:
    """The same for a data set of the configuration, by its coarse captions."""
    input:
        rows=lambda wildcards: film_paths.moments_of(settings, wildcards.own),
    output:
        f"{FILMS}/datasets/{{own}}.json",
    log:
        f"{FILM_LOGS}/describe_dataset/{{own}}.log",
    benchmark:
        f"{FILM_LOGS}/describe_dataset/{{own}}.tsv"
    wildcard_constraints:
        own=film_paths.pattern(settings.datasets),
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(120),
    params:
        kind="moments",
        title=lambda wildcards: settings.datasets[wildcards.own].title,
        model=settings.statistics.spacy_model,
        processes=settings.longform.processes,
    script:
        "../scripts/mad/describe.py"


rule describe_published:
    """The same for a published data set, from its own files."""
    input:
        lambda wildcards: film_paths.published_files(settings, wildcards.collection),
    output:
        f"{FILMS}/published/{{collection}}.json",
    log:
        f"{FILM_LOGS}/describe_published/{{collection}}.log",
    benchmark:
        f"{FILM_LOGS}/describe_published/{{collection}}.tsv"
    wildcard_constraints:
        collection=film_paths.pattern(settings.longform.published),
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(120),
    params:
        kind="published",
        title=lambda wildcards: film_paths.PUBLISHED[wildcards.collection],
        folder=settings.longform.published_dir,
        model=settings.statistics.spacy_model,
        processes=settings.longform.processes,
    script:
        "../scripts/mad/describe.py"


rule unpack_wordnet:
    """The database files of WordNet 3.0 from NLTK's archive."""
    input:
        archive=f"{film_paths.UNPACKED_WORDNET}.zip",
    output:
        folder=directory(film_paths.UNPACKED_WORDNET),
    log:
        "logs/unpack_wordnet.log",
    benchmark:
        "logs/unpack_wordnet.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(10),
        disk_mb=100,
    script:
        "../scripts/mad/unpack_wordnet.py"


rule measure_uniqueness:
    """Sentences that are unique in their film by METEOR (appendix A.1.2)."""
    input:
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
        wordnet=film_paths.wordnet_files(settings),
    output:
        f"{FILMS}/{{films}}/uniqueness.json",
    log:
        f"{FILM_LOGS}/measure_uniqueness/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/measure_uniqueness/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(720),
    params:
        wordnet=film_paths.wordnet_folder(settings),
        direction=settings.longform.meteor_direction,
        processes=settings.longform.processes,
    script:
        "../scripts/mad/measure_uniqueness.py"


rule check_collection:
    """A collection of the demo against what was planted."""
    input:
        source=f"{FILMS}/{{films}}/source",
        rows=f"{FILMS}/{{films}}/collected",
    output:
        check=f"{FILMS}/{{films}}/collection.json",
    log:
        f"{FILM_LOGS}/check_collection/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/check_collection/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(10),
    script:
        "../scripts/mad/check_collection.py"
