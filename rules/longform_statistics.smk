rule describe_movies:
    """A row of Tables 1 and 7 with its histograms, of a data set of movies."""
    input:
        rows=rules.list_movie_annotations.output.rows,
    output:
        f"{MOVIES}/{{movies}}/statistics.json",
    log:
        f"{MOVIE_LOGS}/describe_movies/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(120),
    params:
        code=code_of("longform/describe.py"),
        kind="movies",
        title=lambda wildcards: movie_paths.movie_sets(settings)[wildcards.movies].title,
        spacy_model=settings.statistics.spacy_model,
        processes=settings.longform.processes,
    script:
        "../scripts/longform/describe.py"


rule describe_dataset:
    """The same for a data set of the configuration, by its coarse captions."""
    input:
        rows=lambda wildcards: movie_paths.moments_of(settings, wildcards.own),
    output:
        f"{MOVIES}/datasets/{{own}}.json",
    log:
        f"{MOVIE_LOGS}/describe_dataset/{{own}}.log",
    wildcard_constraints:
        own=movie_paths.pattern(settings.datasets),
    conda:
        "../envs/models.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(120),
    params:
        code=code_of("longform/describe.py"),
        kind="moments",
        title=lambda wildcards: settings.datasets[wildcards.own].title,
        spacy_model=settings.statistics.spacy_model,
        processes=settings.longform.processes,
    script:
        "../scripts/longform/describe.py"


rule describe_published:
    """The same for a published data set, from its own files."""
    input:
        lambda wildcards: movie_paths.published_files(settings, wildcards.collection),
    output:
        f"{MOVIES}/published/{{collection}}.json",
    log:
        f"{MOVIE_LOGS}/describe_published/{{collection}}.log",
    wildcard_constraints:
        collection=movie_paths.pattern(settings.longform.published),
    conda:
        "../envs/models.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(120),
    params:
        code=code_of("longform/describe.py"),
        kind="published",
        title=lambda wildcards: movie_paths.PUBLISHED[wildcards.collection],
        folder=settings.longform.published_dir,
        spacy_model=settings.statistics.spacy_model,
        processes=settings.longform.processes,
    script:
        "../scripts/longform/describe.py"


rule unpack_wordnet:
    """The database files of WordNet 3.0 from NLTK's archive."""
    input:
        archive=f"{movie_paths.UNPACKED_WORDNET}.zip",
    output:
        folder=directory(movie_paths.UNPACKED_WORDNET),
    log:
        "logs/unpack_wordnet.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
        disk_mb=100,
    params:
        code=code_of("longform/unpack_wordnet.py"),
    script:
        "../scripts/longform/unpack_wordnet.py"


rule measure_uniqueness:
    """Sentences that are unique in their movie by METEOR (appendix A.1.2)."""
    input:
        rows=rules.list_movie_annotations.output.rows,
        wordnet=movie_paths.wordnet_files(settings),
    output:
        f"{MOVIES}/{{movies}}/uniqueness.json",
    log:
        f"{MOVIE_LOGS}/measure_uniqueness/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    threads: settings.longform.processes
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(720),
    params:
        code=code_of("longform/measure_uniqueness.py"),
        wordnet=movie_paths.wordnet_folder(settings),
        direction=settings.longform.meteor_direction,
        processes=settings.longform.processes,
    script:
        "../scripts/longform/measure_uniqueness.py"


rule check_collection:
    """A collection of the demo against what was planted."""
    input:
        source=rules.render_movies.output.source,
        rows=rules.join_collection.output.rows,
    output:
        check=f"{MOVIES}/{{movies}}/collection.json",
    log:
        f"{MOVIE_LOGS}/check_collection/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("longform/check_collection.py"),
    script:
        "../scripts/longform/check_collection.py"
