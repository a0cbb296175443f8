rule draw_film_statistics:
    """Where moments lie and how long sentences are, by data set (Figures 3, 5 and 6)."""
    input:
        statistics=film_paths.statistics_files(settings),
    output:
        moments=report(
            f"{FILMS}/figures/moments.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "moments by data set"},
        ),
        sentences=report(
            f"{FILMS}/figures/sentences.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "length of sentences"},
        ),
    log:
        f"{FILM_LOGS}/draw_film_statistics.log",
    benchmark:
        f"{FILM_LOGS}/draw_film_statistics.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(15),
    script:
        "../scripts/mad/draw_statistics.py"


rule draw_films:
    """Moments of the films by split; recall by length of the video (Figure 4)."""
    input:
        statistics=film_paths.statistics_files(settings),
        results=film_paths.result_files(settings),
    output:
        splits=report(
            f"{FILMS}/figures/splits.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "moments by split"},
        ),
        lengths=report(
            f"{FILMS}/figures/lengths.svg",
            caption="../report/longform.rst",
            category="Long videos",
            labels={"figure": "recall by length of the video"},
        ),
    log:
        f"{FILM_LOGS}/draw_films.log",
    benchmark:
        f"{FILM_LOGS}/draw_films.tsv"
    conda:
        "../envs/longform.yaml"
    threads: 1
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=scale_by_attempt(15),
    script:
        "../scripts/mad/draw.py"


REPORT_FILES += rules.draw_film_statistics.output

if film_paths.film_sets(settings):
    REPORT_FILES += rules.draw_films.output
