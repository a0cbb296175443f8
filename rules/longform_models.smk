rule measure_baselines:
    """Oracle and Random Chance on the test split, in stretches of each length and in whole films."""
    input:
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
    output:
        metrics=f"{FILMS}/{{films}}/baselines.json",
    log:
        f"{FILM_LOGS}/measure_baselines/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/measure_baselines/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=scale_by_attempt(120),
    params:
        films=film_paths.set_values(settings),
        settings=film_paths.testing(settings, "baselines"),
    script:
        "../scripts/mad/measure_baselines.py"


rule rank_zero_shot:
    """The zero-shot baseline on the test split: mean-pooled proposals against the sentence, by cosine."""
    input:
        unpack(film_paths.feature_files(settings, "frames", "sentences")),
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
    output:
        metrics=f"{FILMS}/{{films}}/zero-shot/metrics.json",
        submission=f"{FILMS}/{{films}}/zero-shot/submission.jsonl",
    log:
        f"{FILM_LOGS}/rank_zero_shot/{{films}}.log",
    benchmark:
        f"{FILM_LOGS}/rank_zero_shot/{{films}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(720),
        disk_mb=2000,
    params:
        films=film_paths.set_values(settings),
        settings=film_paths.testing(settings, "zero-shot"),
    script:
        "../scripts/mad/rank_zero_shot.py"


rule train_vlg_net:
    """VLG-Net on windows of the training films of one data set, or of a mixture (Table 5)."""
    input:
        film_paths.training_inputs(settings),
    output:
        checkpoint=f"{FILMS}/training/{{training}}/checkpoint.safetensors",
        record=f"{FILMS}/training/{{training}}/log.jsonl",
    log:
        f"{FILM_LOGS}/train_vlg_net/{{training}}.log",
    benchmark:
        f"{FILM_LOGS}/train_vlg_net/{{training}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.vlg_net.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(2880),
        disk_mb=5000,
        gpu=settings.longform.vlg_net.gpu,
    params:
        mixture=film_paths.mixture_of(settings),
        grid=settings.longform.grid.model_dump(mode="json"),
        settings=settings.longform.vlg_net.model_dump(mode="json"),
        seed=settings.seed,
    script:
        "../scripts/mad/train_vlg_net.py"


rule rank_vlg_net:
    """A trained VLG-Net on the test split of a data set."""
    input:
        unpack(film_paths.feature_files(settings, "frames", "tokens")),
        rows=f"{FILMS}/{{films}}/annotations.jsonl",
        checkpoint=f"{FILMS}/training/{{training}}/checkpoint.safetensors",
    output:
        metrics=f"{FILMS}/{{films}}/vlg-net/{{training}}/metrics.json",
        submission=f"{FILMS}/{{films}}/vlg-net/{{training}}/submission.jsonl",
    log:
        f"{FILM_LOGS}/rank_vlg_net/{{films}}/{{training}}.log",
    benchmark:
        f"{FILM_LOGS}/rank_vlg_net/{{films}}/{{training}}.tsv"
    conda:
        "../envs/longform.yaml"
    threads: settings.longform.vlg_net.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=scale_by_attempt(1440),
        disk_mb=5000,
        gpu=settings.longform.vlg_net.gpu,
    params:
        films=film_paths.set_values(settings),
        settings=film_paths.testing(settings, "vlg-net"),
    script:
        "../scripts/mad/rank_vlg_net.py"


rule tabulate_films:
    """The tables of the MAD paper for the configuration's data sets of films, and the stage's own."""
    input:
        statistics=film_paths.statistics_files(settings),
        results=film_paths.result_files(settings),
        counts=film_paths.count_files(settings),
        uniqueness=film_paths.uniqueness_files(settings),
        collections=film_paths.truth_checks(settings),
        published=str(PROJECT / "config" / "published.csv"),
    output:
        tables=f"{FILMS}/tables.json",
    log:
        f"{FILM_LOGS}/tabulate_films.log",
    benchmark:
        f"{FILM_LOGS}/tabulate_films.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(10),
    params:
        layout=film_paths.table_layout(settings),
    script:
        "../scripts/mad/tabulate.py"


STAGE_TABLES += rules.tabulate_films.output
