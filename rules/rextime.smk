from verified.lmm.tasks.rextime import GENERATION

SUITE = suite_paths.folder(settings)
QUESTIONS = expand(f"{SUITE}/annotations/{{split}}.jsonl", split=suite_paths.splits(settings.rextime))


rule filter_rextime_sources:
    """What the sources give, filtered (ReXTime supplement, C.2), with every rejection and its reason."""
    input:
        suite_paths.source_inputs(settings),
    output:
        rows=f"{SUITE}/items.jsonl",
        rejected=f"{SUITE}/rejected.jsonl",
        counts=f"{SUITE}/sources.json",
    log:
        f"logs/{settings.name}/filter_rextime_sources.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("rextime/filter_sources.py"),
        suite=suite_paths.filter_values(settings),
        corpora=suite_paths.corpora(settings),
    script:
        "../scripts/rextime/filter_sources.py"


rule probe_rextime_videos:
    """The videos behind the items of a shard; those of a folder are decoded once and described."""
    input:
        rows=rules.filter_rextime_sources.output.rows,
    output:
        videos=f"{SUITE}/videos/{{shard}}.jsonl",
        missing=f"{SUITE}/videos/{{shard}}.missing.jsonl",
    log:
        f"logs/{settings.name}/probe_rextime_videos/{{shard}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(240),
    params:
        code=code_of("rextime/probe_videos.py"),
        suite=suite_paths.filter_values(settings),
        corpora=suite_paths.corpora(settings),
        shards=settings.shards,
    script:
        "../scripts/rextime/probe_videos.py"


rule write_rextime_questions:
    """Event pairs, questions in both directions, verification and wrong options of a shard (C.8.1 to C.8.7)."""
    input:
        rows=rules.filter_rextime_sources.output.rows,
        videos=rules.probe_rextime_videos.output.videos,
        prompts=ASKING.prompts(*GENERATION),
        weights=role_records(settings, "llm", "video_lmm"),
        cassettes=ASKING.cassettes("llm", "video_lmm"),
    output:
        questions=f"{SUITE}/questions/{{shard}}.jsonl",
        to_mark=f"{SUITE}/questions/{{shard}}.to-mark.jsonl",
        fates=f"{SUITE}/questions/{{shard}}.fates.jsonl",
        corrupted=f"{SUITE}/questions/{{shard}}.corrupted.jsonl",
        counts=f"{SUITE}/questions/{{shard}}.counts.json",
    log:
        f"logs/{settings.name}/write_rextime_questions/{{shard}}.log",
    conda:
        ASKING.environment("llm", "video_lmm")
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(3000 if not ASKING.gpus("llm", "video_lmm") else 64000),
        runtime=minutes(60 if not ASKING.gpus("llm", "video_lmm") else 240),
        disk_mb=500,
        gpu=ASKING.gpus("llm", "video_lmm"),
        api_slots=ASKING.api_slots("llm", "video_lmm"),
    params:
        code=code_of("rextime/write_questions.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("llm", "video_lmm"),
        generation=ASKING.values(*GENERATION),
        rextime=deciding(settings.rextime, ("frames", "routing", "verification_threshold")),
        shards=settings.shards,
        asked_in=asked_in_of(f"{SUITE}/questions/{{shard}}.counts.json"),
        seed=settings.seed,
    script:
        "../scripts/rextime/write_questions.py"


rule collect_rextime_questions:
    """The questions by split in the released form, what people review, statistics (C.6), what became of everything."""
    input:
        questions=expand(rules.write_rextime_questions.output.questions, shard=SHARDS),
        to_mark=expand(rules.write_rextime_questions.output.to_mark, shard=SHARDS),
        counts=expand(rules.write_rextime_questions.output.counts, shard=SHARDS),
    output:
        splits=QUESTIONS,
        to_review=expand(f"{SUITE}/review/{{split}}.jsonl", split=suite_paths.tested_splits(settings.rextime)),
        statistics=f"{SUITE}/statistics.json",
        counts=f"{SUITE}/counts.json",
    log:
        f"logs/{settings.name}/collect_rextime_questions.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(10),
    params:
        code=code_of("rextime/collect_questions.py"),
    script:
        "../scripts/rextime/collect_questions.py"


rule measure_rextime_validity:
    """Questions about rendered videos against what is true of these; read by a table and nothing else."""
    input:
        questions=expand(rules.write_rextime_questions.output.questions, shard=SHARDS),
        fates=expand(rules.write_rextime_questions.output.fates, shard=SHARDS),
        truth=suite_paths.truths(settings).values(),
    output:
        rows=f"{SUITE}/validity.jsonl",
    log:
        f"logs/{settings.name}/measure_rextime_validity.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("rextime/measure_validity.py"),
    script:
        "../scripts/rextime/measure_validity.py"


rule tabulate_rextime:
    """The suite's tables, for `build_tables`."""
    input:
        sources=suite_paths.written_file(settings, "sources.json"),
        counts=suite_paths.written_file(settings, "counts.json"),
        statistics=suite_paths.written_file(settings, "statistics.json"),
        released=suite_paths.given_files(settings).values(),
        answers=suite_paths.answer_files(settings),
        free=suite_paths.free_files(settings),
        results=suite_paths.results_files(settings),
        validity=[rules.measure_rextime_validity.output.rows] if suite_paths.truths(settings) else [],
        published=PUBLISHED,
    output:
        tables=f"{SUITE}/tables.json",
    log:
        f"logs/{settings.name}/tabulate_rextime.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("rextime/tabulate.py"),
        prices=settings.rextime.prices.model_dump(mode="json"),
        released=suite_paths.given_files(settings),
        free=suite_paths.free_answers(settings),
        answered_by=[settings.generation.video_lmm.model, settings.generation.llm.model],
    script:
        "../scripts/rextime/tabulate.py"


STAGE_TABLES += rules.tabulate_rextime.output
