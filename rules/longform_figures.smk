rule draw_movie_statistics:
    """Data sets beside each other; where moments lie; how long sentences are (Figures 1, 3, 5 and 6)."""
    input:
        statistics=movie_paths.statistics_files(settings),
    output:
        moments=[
            report(
                f"{MOVIES}/figures/moments.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "moments by data set"},
            ),
            f"{MOVIES}/figures/moments.csv",
        ],
        sentences=[
            report(
                f"{MOVIES}/figures/sentences.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "length of sentences"},
            ),
            f"{MOVIES}/figures/sentences.csv",
        ],
        datasets=[
            report(
                f"{MOVIES}/figures/datasets.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "data sets beside each other"},
            ),
            f"{MOVIES}/figures/datasets.csv",
        ],
    log:
        f"{MOVIE_LOGS}/draw_movie_statistics.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("longform/draw_statistics.py"),
    script:
        "../scripts/longform/draw_statistics.py"


rule draw_movies:
    """Moments by split; recall by length (Figure 4); sentences of one movie (2); genres and years (7)."""
    input:
        **movie_paths.metadata_files(settings),
        statistics=movie_paths.statistics_files(settings),
        results=movie_paths.result_files(settings),
        example=movie_paths.example_rows(settings),
    output:
        splits=[
            report(
                f"{MOVIES}/figures/splits.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "moments by split"},
            ),
            f"{MOVIES}/figures/splits.csv",
        ],
        lengths=[
            report(
                f"{MOVIES}/figures/lengths.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "recall by length of the video"},
            ),
            f"{MOVIES}/figures/lengths.csv",
        ],
        example=[
            report(
                f"{MOVIES}/figures/example.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "sentences of one movie"},
            ),
            f"{MOVIES}/figures/example.csv",
        ],
        diversity=[
            report(
                f"{MOVIES}/figures/diversity.svg",
                caption="../report/longform.rst",
                category="Long videos",
                labels={"figure": "genres and years"},
            ),
            f"{MOVIES}/figures/diversity.csv",
        ],
    log:
        f"{MOVIE_LOGS}/draw_movies.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("longform/draw.py"),
        titles=movie_paths.titles_with_metadata(settings),
    script:
        "../scripts/longform/draw.py"


REPORT_FILES += rules.draw_movie_statistics.output

if movie_paths.movie_sets(settings):
    REPORT_FILES += rules.draw_movies.output
