rule write_perturbations:
    """Positives and negatives of each coarse caption and the selected ones (section 3.3, Equations 6 to 8)."""
    input:
        moments=rules.probe_videos.output.moments,
        prompts=ASKING.prompts(*TASKS_OF_STAGE["perturbations"]),
        weights=role_records(settings, "llm") + sentence_records(settings),
        cassettes=ASKING.cassettes("llm"),
    output:
        perturbations=layout.perturbations,
        counts="results/{dataset}/perturbations/{shard}.counts.json",
    log:
        "logs/{dataset}/write_perturbations/{shard}.log",
    priority: CRITICAL_PATH
    conda:
        ASKING.environment("llm")
    threads: settings.generation.threads
    resources:
        **ASKING.needs("llm", gpu_minutes=120),
    params:
        **ASKING.params(TASKS_OF_STAGE["perturbations"], "llm"),
        code=code_of("perturbations/write.py"),
        sentences=settings.generation.sentence_model,
        seed=settings.seed,
    script:
        "../scripts/perturbations/write.py"
