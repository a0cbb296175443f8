from verified.lmm.tasks.embedding import EMBEDDING


rule measure_baselines:
    """Oracle and Random Chance on the test split, in segments of each length and in whole movies."""
    input:
        rows=rules.list_movie_annotations.output.rows,
    output:
        metrics=f"{MOVIES}/{{movies}}/baselines.json",
    log:
        f"{MOVIE_LOGS}/measure_baselines/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(120),
    params:
        code=code_of("longform/measure_baselines.py"),
        movies=movie_paths.set_values(settings),
        settings=movie_paths.testing_values(settings, "baselines"),
    script:
        "../scripts/longform/measure_baselines.py"


rule rank_zero_shot:
    """The zero-shot baseline on the test split: mean-pooled proposals against the sentence, by cosine."""
    input:
        unpack(movie_paths.feature_files(settings, "frames", "sentences")),
        rows=rules.list_movie_annotations.output.rows,
    output:
        metrics=f"{MOVIES}/{{movies}}/zero-shot/metrics.json",
        submission=f"{MOVIES}/{{movies}}/zero-shot/submission.jsonl",
    log:
        f"{MOVIE_LOGS}/rank_zero_shot/{{movies}}.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(720),
        disk_mb=2000,
    params:
        code=code_of("longform/rank_zero_shot.py"),
        movies=movie_paths.set_values(settings),
        settings=movie_paths.testing_values(settings, "zero-shot"),
        encoder=movie_paths.computing_encoder(settings),
    script:
        "../scripts/longform/rank_zero_shot.py"


if movie_paths.embedded_sets(settings):

    rule embed_movies:
        """Vectors of the test movies by the role `embed`, at the grid's rate, and of their sentences."""
        input:
            unpack(movie_paths.video_inputs(settings)),
            rows=rules.list_movie_annotations.output.rows,
            weights=role_records(settings, "embed"),
            cassettes=ASKING.cassettes("embed"),
        output:
            frames=f"{MOVIES}/{{movies}}/dense/frames.h5",
            sentences=f"{MOVIES}/{{movies}}/dense/sentences.h5",
            counts=f"{MOVIES}/{{movies}}/dense/counts.json",
        log:
            f"{MOVIE_LOGS}/embed_movies/{{movies}}.log",
        retries: tries(2880)
        conda:
            "../envs/asking.yaml"
        threads: settings.generation.threads
        resources:
            mem_mb=scale_by_attempt(8000),
            runtime=minutes(2880),
            disk_mb=20000,
            gpu=ASKING.gpus("embed"),
            api_slots=ASKING.api_slots("embed"),
        params:
            code=code_of("longform/embed_movies.py"),
            threads=settings.generation.threads,
            engines=ASKING.engine_code("embed"),
            generation=ASKING.values(EMBEDDING),
            movies=movie_paths.set_values(settings),
            fps=settings.longform.grid.fps,
            asked_in=asked_in_of(f"{MOVIES}/{{movies}}/dense/counts.json"),
        script:
            "../scripts/longform/embed_movies.py"

    use rule rank_zero_shot as rank_dense_movies with:
        input:
            frames=f"{MOVIES}/{{movies}}/dense/frames.h5",
            sentences=f"{MOVIES}/{{movies}}/dense/sentences.h5",
            rows=rules.list_movie_annotations.output.rows,
        output:
            metrics=f"{MOVIES}/{{movies}}/dense/metrics.json",
            submission=f"{MOVIES}/{{movies}}/dense/submission.jsonl",
        log:
            f"{MOVIE_LOGS}/rank_dense_movies/{{movies}}.log",
        params:
            movies=movie_paths.set_values(settings),
            settings=movie_paths.testing_values(settings, "dense"),
            encoder="",


rule train_vlg_net:
    """VLG-Net on windows of the training movies of one data set, or of a mixture (Table 5)."""
    input:
        movie_paths.training_inputs(settings),
    output:
        checkpoint=f"{MOVIES}/training/{{training}}/checkpoint.safetensors",
        record=f"{MOVIES}/training/{{training}}/log.jsonl",
    log:
        f"{MOVIE_LOGS}/train_vlg_net/{{training}}.log",
    retries: tries(2880)
    conda:
        "../envs/models.yaml"
    threads: settings.longform.vlg_net.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(2880),
        disk_mb=5000,
        gpu=settings.longform.vlg_net.gpu,
    params:
        code=code_of("longform/train_vlg_net.py"),
        mixture=movie_paths.mixture_of(settings),
        grid=settings.longform.grid.model_dump(mode="json"),
        settings=settings.longform.vlg_net.model_dump(mode="json"),
        seed=settings.seed,
    script:
        "../scripts/longform/train_vlg_net.py"


rule rank_vlg_net:
    """A trained VLG-Net on the test split of a data set."""
    input:
        unpack(movie_paths.feature_files(settings, "frames", "tokens")),
        rows=rules.list_movie_annotations.output.rows,
        checkpoint=rules.train_vlg_net.output.checkpoint,
    output:
        metrics=f"{MOVIES}/{{movies}}/vlg-net/{{training}}/metrics.json",
        submission=f"{MOVIES}/{{movies}}/vlg-net/{{training}}/submission.jsonl",
    log:
        f"{MOVIE_LOGS}/rank_vlg_net/{{movies}}/{{training}}.log",
    retries: tries(1440)
    conda:
        "../envs/models.yaml"
    threads: settings.longform.vlg_net.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(1440),
        disk_mb=5000,
        gpu=settings.longform.vlg_net.gpu,
    params:
        code=code_of("longform/rank_vlg_net.py"),
        movies=movie_paths.set_values(settings),
        settings=movie_paths.testing_values(settings, "vlg-net"),
    script:
        "../scripts/longform/rank_vlg_net.py"


use rule rank_vlg_net as rank_guided with:
    input:
        unpack(movie_paths.feature_files(settings, "frames", "tokens", "sentences")),
        rows=rules.list_movie_annotations.output.rows,
        checkpoint=f"{MOVIES}/training/{{movies}}/checkpoint.safetensors",
    output:
        metrics=f"{MOVIES}/{{movies}}/guided/metrics.json",
        submission=f"{MOVIES}/{{movies}}/guided/submission.jsonl",
    log:
        f"{MOVIE_LOGS}/rank_guided/{{movies}}.log",
    params:
        movies=movie_paths.set_values(settings),
        settings=movie_paths.testing_values(settings, "guided"),


if movie_paths.pretrained_sets(settings):

    use rule rank_vlg_net as rank_pretrained_vlg_net with:
        input:
            unpack(movie_paths.feature_files(settings, "frames", "tokens")),
            **movie_paths.shipped_inputs(settings),
            rows=rules.list_movie_annotations.output.rows,
        output:
            metrics=f"{MOVIES}/{{movies}}/{movie_paths.PRETRAINED}/metrics.json",
            submission=f"{MOVIES}/{{movies}}/{movie_paths.PRETRAINED}/submission.jsonl",
        log:
            f"{MOVIE_LOGS}/rank_pretrained_vlg_net/{{movies}}.log",
        params:
            movies=movie_paths.set_values(settings),
            settings=movie_paths.testing_values(settings, movie_paths.PRETRAINED),


if movie_paths.trainings(settings) and settings.longform.encoder == "evaluator":

    rule describe_vlg_net:
        """The card of a trained VLG-Net: its recipe and corpus, what it finds in the corpus's test movies, its digest."""
        input:
            checkpoint=f"{MOVIES}/training/{{movies}}/checkpoint.safetensors",
            record=f"{MOVIES}/training/{{movies}}/log.jsonl",
            rows=rules.list_movie_annotations.output.rows,
            metrics=f"{MOVIES}/{{movies}}/vlg-net/{{movies}}/metrics.json",
            encoder=movie_paths.encoder_inputs(settings)["checkpoint"],
        output:
            card=f"{MOVIES}/training/{{movies}}/card.json",
        log:
            f"{MOVIE_LOGS}/describe_vlg_net/{{movies}}.log",
        conda:
            "../envs/models.yaml"
        resources:
            mem_mb=scale_by_attempt(1000),
            runtime=minutes(10),
        params:
            code=code_of("longform/describe_vlg_net.py"),
            plan=movie_paths.card_plan(settings),
        script:
            "../scripts/longform/describe_vlg_net.py"


rule tabulate_movies:
    """The tables of the MAD paper for the configuration's data sets of movies, and the stage's own."""
    input:
        statistics=movie_paths.statistics_files(settings),
        results=movie_paths.result_files(settings),
        counts=movie_paths.count_files(settings),
        uniqueness=movie_paths.uniqueness_files(settings),
        collected=movie_paths.collection_folders(settings),
        collections=movie_paths.truth_checks(settings),
        lsmdc16=list(settings.longform.lsmdc16.values()),
        published=PUBLISHED,
    output:
        tables=f"{MOVIES}/tables.json",
    log:
        f"{MOVIE_LOGS}/tabulate_movies.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("longform/tabulate.py"),
        layout=movie_paths.table_layout(settings),
    script:
        "../scripts/longform/tabulate.py"


STAGE_TABLES += rules.tabulate_movies.output
