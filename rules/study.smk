rule study:
    """Pages for the participants of a user study (Table 3), for every data set with videos."""
    input:
        page_folders("study"),


rule prepare_study:
    """Captions drawn for people to grade, and a page for each participant (supplement A.2 and D)."""
    input:
        annotations=of_key(annotation_files),
        videos=rules.build_corpus.output.videos,
    output:
        pages=directory("results/{dataset}/study/pages"),
        key="results/{dataset}/study/key.json",
    log:
        "logs/{dataset}/prepare_study.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=60),
    params:
        code=code_of("study/prepare.py"),
        study=deciding(settings.study),
        title=title_of,
        seed=settings.seed,
    script:
        "../scripts/study/prepare.py"
