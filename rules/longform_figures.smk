rule draw_movie_statistics:
    """Where moments lie and how long sentences are, by data set (Figures 3, 5 and 6)."""
    input:
        statistics=movie_paths.statistics_files(settings),
    output:
        moments=report(
            f"{MOVIES}/figures/moments.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "moments by data set"},
        ),
        sentences=report(
            f"{MOVIES}/figures/sentences.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "length of sentences"},
        ),
    log:
        f"{MOVIE_LOGS}/draw_movie_statistics.log",
    benchmark:
        f"{MOVIE_LOGS}/draw_movie_statistics.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(15),
    script:
        "../scripts/longform/draw_statistics.py"


rule draw_movies:
    """Moments of the movies by split; recall by length of the video (Figure 4)."""
    input:
        statistics=movie_paths.statistics_files(settings),
        results=movie_paths.result_files(settings),
    output:
        splits=report(
            f"{MOVIES}/figures/splits.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "moments by split"},
        ),
        lengths=report(
            f"{MOVIES}/figures/lengths.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "recall by length of the video"},
        ),
    log:
        f"{MOVIE_LOGS}/draw_movies.log",
    benchmark:
        f"{MOVIE_LOGS}/draw_movies.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(15),
    script:
        "../scripts/longform/draw.py"


REPORT_FILES += rules.draw_movie_statistics.output

if movie_paths.movie_sets(settings):
    REPORT_FILES += rules.draw_movies.output
