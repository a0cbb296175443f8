import re

from verified.benchmark.mad import paths as film_paths

FILMS = film_paths.folder(settings)
FILM_LOGS = f"logs/{settings.name}/longform"


wildcard_constraints:
    films=film_paths.pattern(film_paths.film_sets(settings)),
    training="|".join(map(re.escape, film_paths.trainings(settings))) or "(?!)",


rule render_films:
    """Films of the demo's world, sound tracks and descriptions with what is planted in them."""
    output:
        source=directory(f"{FILMS}/{{films}}/source"),
    log:
        f"{FILM_LOGS}/render_films/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/render_films/{{films}}.tsv"
    wildcard_constraints:
        films=film_paths.pattern(film_paths.rendered_sets(settings)),
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=scale_by_attempt(30),
        disk_mb=500,
    params:
        films=film_paths.set_values(settings),
        fps=settings.longform.grid.fps,
        seed=settings.seed,
    script:
        "../scripts/demo/render_films.py"


rule collect_films:
    """Described tracks to grounded sentences: delay, transcript, dialogue out (section 3.1)."""
    input:
        manifest=film_paths.manifest_file(settings),
    output:
        rows=directory(f"{FILMS}/{{films}}/collected"),
    log:
        f"{FILM_LOGS}/collect_films/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/collect_films/{{films}}.tsv"
    wildcard_constraints:
        films=film_paths.pattern(film_paths.collected_sets(settings)),
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=scale_by_attempt(720),
        disk_mb=500,
    params:
        settings=settings.longform.collection.model_dump(mode="json"),
    script:
        "../scripts/mad/collect.py"


rule extract_film_features:
    """Frame features of the films of a shard by the joint encoder, streamed."""
    input:
        unpack(film_paths.video_inputs(settings)),
        **film_paths.encoder_inputs(settings),
    output:
        features=f"{FILMS}/{{films}}/features/frames/{{shard}}.h5",
        failed=f"{FILMS}/{{films}}/features/frames/{{shard}}.failed.json",
    log:
        f"{FILM_LOGS}/extract_film_features/{{films}}/{{shard}}.log",
    benchmark:
        f"{FILM_LOGS}/extract_film_features/{{films}}/{{shard}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.encoder_threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(1440),
        disk_mb=5000,
        gpu=settings.longform.encoder_gpu,
    params:
        encoder=film_paths.encoder_settings(settings),
        fps=settings.longform.grid.fps,
        shards=settings.shards,
    script:
        "../scripts/mad/extract_features.py"


rule link_film_features:
    """One file of links over the shards."""
    input:
        shards=film_paths.frame_shards(settings),
    output:
        features=f"{FILMS}/{{films}}/features/frames.h5",
    log:
        f"{FILM_LOGS}/link_film_features/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/link_film_features/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(10),
    script:
        "../scripts/mad/link_features.py"


rule list_film_annotations:
    """Rows of a data set of films, checked against their films and features; what cannot be used, and why."""
    input:
        unpack(film_paths.annotation_inputs(settings)),
        unpack(film_paths.feature_files(settings, "frames")),
    output:
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
        exclusions=f"{FILMS}/{{films}}/exclusions.jsonl",
        counts=f"{FILMS}/{{films}}/counts.json",
    log:
        f"{FILM_LOGS}/list_film_annotations/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/list_film_annotations/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(30),
    params:
        films=film_paths.set_values(settings),
    script:
        "../scripts/mad/list_annotations.py"


rule extract_sentence_features:
    """Token and sentence features of all usable annotations by the joint encoder."""
    input:
        **film_paths.encoder_inputs(settings),
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
    output:
        tokens=f"{FILMS}/{{films}}/features/tokens.h5",
        sentences=f"{FILMS}/{{films}}/features/sentences.h5",
    log:
        f"{FILM_LOGS}/extract_sentence_features/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/extract_sentence_features/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.encoder_threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(240),
        disk_mb=20000,
        gpu=settings.longform.encoder_gpu,
    params:
        encoder=film_paths.encoder_settings(settings),
    script:
        "../scripts/mad/extract_sentence_features.py"
