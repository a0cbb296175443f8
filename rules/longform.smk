import re

from verified.benchmark.mad import paths as movie_paths
from verified.lmm.tasks.transcription import TRANSCRIPTION

MOVIES = movie_paths.folder(settings)
MOVIE_LOGS = f"logs/{settings.name}/longform"


wildcard_constraints:
    movies=movie_paths.pattern(movie_paths.movie_sets(settings)),
    training="|".join(map(re.escape, movie_paths.trainings(settings))) or "(?!)",


rule render_movies:
    """Movies of the demo's world, sound tracks and descriptions with what is planted in them."""
    output:
        source=directory(f"{MOVIES}/{{movies}}/source"),
    log:
        f"{MOVIE_LOGS}/render_movies/{{movies}}.log",
    wildcard_constraints:
        movies=movie_paths.pattern(movie_paths.rendered_sets(settings)),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
        disk_mb=500,
    params:
        code=code_of("demo/render_movies.py"),
        movies=movie_paths.set_values(settings),
        fps=settings.longform.grid.fps,
        seed=settings.seed,
    script:
        "../scripts/demo/render_movies.py"


rule collect_movie:
    """A described track to grounded sentences: delay, transcript, dialogue out (section 3.1); a job a movie."""
    input:
        unpack(movie_paths.part_inputs(settings)),
        cassettes=ASKING.cassettes(*movie_paths.listening_roles(settings)),
    output:
        part=f"{MOVIES}/{{movies}}/collecting/{{part}}.json",
    log:
        f"{MOVIE_LOGS}/collect_movie/{{movies}}/{{part}}.log",
    wildcard_constraints:
        movies=movie_paths.pattern(movie_paths.collected_sets(settings)),
        part="[a-z0-9]+",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(60),
        disk_mb=500,
        api_slots=ASKING.api_slots(*movie_paths.listening_roles(settings)),
    params:
        code=code_of("longform/collect.py"),
        settings=settings.longform.collection.model_dump(mode="json"),
        generation=ASKING.values(TRANSCRIPTION),
        seed=settings.seed,
        engines=ASKING.engine_code(*movie_paths.listening_roles(settings)),
    script:
        "../scripts/longform/collect.py"


rule join_collection:
    """Grounded sentences of all movies in MAD's form, and a report on each."""
    input:
        parts=movie_paths.collected_parts(settings),
    output:
        rows=directory(f"{MOVIES}/{{movies}}/collected"),
    log:
        f"{MOVIE_LOGS}/join_collection/{{movies}}.log",
    wildcard_constraints:
        movies=movie_paths.pattern(movie_paths.collected_sets(settings)),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("longform/join.py"),
    script:
        "../scripts/longform/join.py"


rule extract_movie_features:
    """Frame features of the movies of a shard by the joint encoder, streamed."""
    input:
        unpack(movie_paths.video_inputs(settings)),
        **movie_paths.encoder_inputs(settings),
    output:
        features=f"{MOVIES}/{{movies}}/features/frames/{{shard}}.h5",
        failed=f"{MOVIES}/{{movies}}/features/frames/{{shard}}.failed.json",
    log:
        f"{MOVIE_LOGS}/extract_movie_features/{{movies}}/{{shard}}.log",
    retries: tries(1440)
    conda:
        "../envs/models.yaml"
    threads: settings.longform.encoder_threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(1440),
        disk_mb=5000,
        gpu=settings.longform.encoder_gpu,
    params:
        code=code_of("longform/extract_features.py"),
        encoder=movie_paths.encoder_settings(settings),
        gpu=settings.longform.encoder_gpu,
        fps=settings.longform.grid.fps,
        shards=settings.shards,
    script:
        "../scripts/longform/extract_features.py"


rule link_movie_features:
    """One file of links over the shards."""
    input:
        shards=movie_paths.frame_shards(settings),
    output:
        features=f"{MOVIES}/{{movies}}/features/frames.h5",
    log:
        f"{MOVIE_LOGS}/link_movie_features/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("longform/link_features.py"),
    script:
        "../scripts/longform/link_features.py"


rule list_movie_annotations:
    """Rows of a data set of movies, checked against their movies and features; what cannot be used, and why."""
    input:
        unpack(movie_paths.annotation_inputs(settings)),
        unpack(movie_paths.feature_files(settings, "frames")),
    output:
        rows=f"{MOVIES}/{{movies}}/annotations.jsonl",
        exclusions=f"{MOVIES}/{{movies}}/exclusions.jsonl",
        counts=f"{MOVIES}/{{movies}}/counts.json",
    log:
        f"{MOVIE_LOGS}/list_movie_annotations/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(30),
    params:
        code=code_of("longform/list_annotations.py"),
        movies=movie_paths.set_values(settings),
    script:
        "../scripts/longform/list_annotations.py"


rule extract_sentence_features:
    """Token and sentence features of all usable annotations by the joint encoder."""
    input:
        **movie_paths.encoder_inputs(settings),
        rows=rules.list_movie_annotations.output.rows,
    output:
        tokens=f"{MOVIES}/{{movies}}/features/tokens.h5",
        sentences=f"{MOVIES}/{{movies}}/features/sentences.h5",
    log:
        f"{MOVIE_LOGS}/extract_sentence_features/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    threads: settings.longform.encoder_threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
        disk_mb=20000,
        gpu=settings.longform.encoder_gpu,
    params:
        code=code_of("longform/extract_sentence_features.py"),
        encoder=movie_paths.encoder_settings(settings),
        gpu=settings.longform.encoder_gpu,
    script:
        "../scripts/longform/extract_sentence_features.py"
