from verified.benchmark.vcmr.paths import search_values
from verified.benchmark.rextime.answer import TASKS as PROTOCOL_TASKS
from verified.lmm.tasks.embedding import EMBEDDING
from verified.lmm.tasks.rextime import LOCATE, SCORING
from verified.weights.wanted import published_records, text_records

ANSWERING = suite_paths.answering_roles(settings)


wildcard_constraints:
    protocol="|".join(PROTOCOL_TASKS),
    tuned=f"(?:{suite_paths.TUNED})?",
    released="|".join(settings.rextime.released) or "(?!)",
    grounded="|".join(suite_paths.datasets_used(settings)) or "(?!)",
    grounder="[a-z0-9_]+-[a-z-]+",
    published="|".join(settings.rextime.published) or "(?!)",
    test=r"suite|(?:dataset|released)-[^/]+",


if suite_paths.adapter(settings):

    rule fine_tune_video_lmm:
        """The video LMM learns from the questions of train by low-rank adapters (ReXTime supplement, C.5)."""
        input:
            questions=f"{SUITE}/annotations/{suite_paths.TRAIN}.jsonl",
            videos=expand(rules.probe_rextime_videos.output.videos, shard=SHARDS),
            prompts=ASKING.prompts(LOCATE, SCORING),
            weights=role_records(settings, "video_lmm"),
        output:
            adapter=suite_paths.adapter(settings),
            card=suite_paths.card(settings)[0],
            record=f"{SUITE}/fine-tuned/video-lmm/log.jsonl",
        log:
            f"logs/{settings.name}/fine_tune_video_lmm.log",
        retries: tries(1440)
        conda:
            ASKING.environment("video_lmm")
        threads: settings.generation.threads
        resources:
            mem_mb=scale_by_attempt(8000 if not ASKING.gpus("video_lmm") else 64000),
            runtime=minutes(1440),
            disk_mb=4000,
            gpu=ASKING.gpus("video_lmm"),
        params:
            code=code_of("rextime/fine_tune_lmm.py"),
            threads=settings.generation.threads,
            engines=ASKING.engine_code("video_lmm"),
            generation=ASKING.values(LOCATE, SCORING),
            frames=settings.rextime.frames,
            lora=deciding(settings.rextime.lora),
            seed=settings.seed,
        script:
            "../scripts/rextime/fine_tune_lmm.py"


rule answer_rextime_questions:
    """The video LMM, as it is or fine-tuned, takes the test by one protocol (ReXTime supplement, C.5), by shard."""
    input:
        questions=rules.write_rextime_questions.output.questions,
        videos=rules.probe_rextime_videos.output.videos,
        adapter=suite_paths.adapter_of(settings),
        prompts=lambda wildcards: ASKING.prompts(*PROTOCOL_TASKS[wildcards.protocol]),
        weights=lambda wildcards: role_records(settings, *suite_paths.answering_roles(settings, wildcards.protocol)),
        cassettes=lambda wildcards: ASKING.cassettes(*suite_paths.answering_roles(settings, wildcards.protocol)),
    output:
        submission=f"{SUITE}/answers/{{tuned}}{{protocol}}/{{shard}}.jsonl",
        failures=f"{SUITE}/answers/{{tuned}}{{protocol}}/{{shard}}.failures.jsonl",
        counts=f"{SUITE}/answers/{{tuned}}{{protocol}}/{{shard}}.counts.json",
    log:
        f"logs/{settings.name}/answer_rextime_questions/{{tuned}}{{protocol}}-{{shard}}.log",
    conda:
        ASKING.environment(*ANSWERING)
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(3000 if not ASKING.gpus(*ANSWERING) else 64000),
        runtime=minutes(60 if not ASKING.gpus(*ANSWERING) else 240),
        disk_mb=500,
        gpu=ASKING.gpus(*ANSWERING),
        api_slots=ASKING.api_slots(*ANSWERING),
    params:
        code=code_of("rextime/answer_questions.py"),
        threads=settings.generation.threads,
        engines=lambda wildcards: ASKING.engine_code(*suite_paths.answering_roles(settings, wildcards.protocol)),
        generation=lambda wildcards: ASKING.values(*PROTOCOL_TASKS[wildcards.protocol]),
        frames=settings.rextime.frames,
        asked_in=asked_in_of(f"{SUITE}/answers/{{tuned}}{{protocol}}/{{shard}}.counts.json"),
        seed=settings.seed,
    script:
        "../scripts/rextime/answer_questions.py"


rule sample_released_questions:
    """The part of given questions that is a test of its own, such as the mini test (ReXTime supplement, D.3)."""
    input:
        questions=lambda wildcards: settings.rextime.released[wildcards.released].questions,
        only=lambda wildcards: settings.rextime.released[wildcards.released].only or [],
    output:
        sample=f"{SUITE}/released/{{released}}/sample.jsonl",
    log:
        f"logs/{settings.name}/sample_released_questions/{{released}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("rextime/sample_released.py"),
        given=lambda wildcards: settings.rextime.released[wildcards.released].model_dump(mode="json"),
        seed=settings.seed,
    script:
        "../scripts/rextime/sample_released.py"


rule list_released_questions:
    """A shard of given questions, and their videos in a folder, decoded once and described."""
    input:
        questions=lambda wildcards: suite_paths.given_file(settings, wildcards.released),
        folder=lambda wildcards: ancient(settings.rextime.released[wildcards.released].videos),
    output:
        questions=f"{SUITE}/released/{{released}}/questions/{{shard}}.jsonl",
        videos=f"{SUITE}/released/{{released}}/videos/{{shard}}.jsonl",
        missing=f"{SUITE}/released/{{released}}/videos/{{shard}}.missing.jsonl",
    log:
        f"logs/{settings.name}/list_released_questions/{{released}}-{{shard}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(240),
    params:
        code=code_of("rextime/list_released.py"),
        scored=lambda wildcards: settings.rextime.released[wildcards.released].scored,
        shards=settings.shards,
    script:
        "../scripts/rextime/list_released.py"


use rule answer_rextime_questions as answer_released_questions with:
    input:
        questions=f"{SUITE}/released/{{released}}/questions/{{shard}}.jsonl",
        videos=f"{SUITE}/released/{{released}}/videos/{{shard}}.jsonl",
        adapter=suite_paths.adapter_of(settings),
        prompts=lambda wildcards: ASKING.prompts(*PROTOCOL_TASKS[wildcards.protocol], LOCATE),
        weights=lambda wildcards: role_records(settings, *suite_paths.answering_roles(settings, wildcards.protocol)),
        cassettes=lambda wildcards: ASKING.cassettes(*suite_paths.answering_roles(settings, wildcards.protocol)),
    output:
        submission=f"{SUITE}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.jsonl",
        failures=f"{SUITE}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.failures.jsonl",
        counts=f"{SUITE}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.counts.json",
    log:
        f"logs/{settings.name}/answer_released_questions/{{released}}/{{tuned}}{{protocol}}-{{shard}}.log",
    params:
        threads=settings.generation.threads,
        engines=lambda wildcards: ASKING.engine_code(*suite_paths.answering_roles(settings, wildcards.protocol)),
        generation=lambda wildcards: ASKING.values(*PROTOCOL_TASKS[wildcards.protocol], LOCATE),
        frames=settings.rextime.frames,
        asked_in=asked_in_of(f"{SUITE}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.counts.json"),
        seed=settings.seed,


rule join_released_answers:
    """The video LMM's answers to given questions as a submission, for `verified evaluate` or a leaderboard."""
    input:
        questions=lambda wildcards: suite_paths.given_file(settings, wildcards.released),
        shards=expand(
            f"{SUITE}/released/{{{{released}}}}/answers/{{{{tuned}}}}{{{{protocol}}}}/{{shard}}.jsonl", shard=SHARDS
        ),
    output:
        submission=f"{SUITE}/released/{{released}}/{{tuned}}{{protocol}}.jsonl",
    log:
        f"logs/{settings.name}/join_released_answers/{{released}}/{{tuned}}{{protocol}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(10),
    params:
        code=code_of("rextime/join_answers.py"),
    script:
        "../scripts/rextime/join_answers.py"


rule ground_rextime_questions:
    """A retrieval model finds the spans of a data set's questions in their videos: the question is its query."""
    input:
        unpack(suite_paths.grounding_inputs(settings)),
        questions=QUESTIONS,
        weights=text_records(settings),
    output:
        submission=f"{SUITE}/grounding/{{grounded}}/{{grounder}}.jsonl",
        text=f"{SUITE}/grounding/{{grounded}}/{{grounder}}.h5",
    log:
        f"logs/{settings.name}/ground_rextime_questions/{{grounded}}-{{grounder}}.log",
    wildcard_constraints:
        grounder=".+-.+",
    conda:
        "../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        mem_mb=scale_by_attempt(settings.retrieval.memory_mb + 4000),
        runtime=minutes(60),
        disk_mb=2000,
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("rextime/ground_questions.py"),
        features=settings.features.model_dump(
            mode="json", exclude={"video_backbone", "video_revision", "fps", "precision"}
        ),
        search=lambda wildcards: search_values(settings, wildcards.grounded),
        sources=lambda wildcards: suite_paths.sources_of(settings, wildcards.grounded),
        model_code=suite_paths.grounder_code,
    script:
        "../scripts/rextime/ground_questions.py"


if suite_paths.vector_files(settings):

    rule ground_questions_by_vectors:
        """The window of each question's video whose vector is nearest to the question's, without training."""
        input:
            questions=QUESTIONS,
            videos=lambda wildcards: suite_paths.videos_of(settings, wildcards.grounded),
            weights=role_records(settings, "embed"),
            cassettes=ASKING.cassettes("embed"),
        output:
            submission=f"{SUITE}/grounding/{{grounded}}/dense.jsonl",
            counts=f"{SUITE}/grounding/{{grounded}}/dense.counts.json",
        log:
            f"logs/{settings.name}/ground_questions_by_vectors/{{grounded}}.log",
        conda:
            "../envs/asking.yaml"
        threads: settings.generation.threads
        resources:
            mem_mb=scale_by_attempt(4000),
            runtime=minutes(240),
            gpu=ASKING.gpus("embed"),
            api_slots=ASKING.api_slots("embed"),
        params:
            code=code_of("rextime/ground_by_vectors.py"),
            threads=settings.generation.threads,
            engines=ASKING.engine_code("embed"),
            generation=ASKING.values(EMBEDDING),
            spans=lambda wildcards: deciding(settings.datasets[wildcards.grounded].spans),
            sources=lambda wildcards: suite_paths.sources_of(settings, wildcards.grounded),
            asked_in=asked_in_of(f"{SUITE}/grounding/{{grounded}}/dense.counts.json"),
        script:
            "../scripts/rextime/ground_by_vectors.py"


rule ground_by_published_weights:
    """A grounding model with its authors' weights finds the spans of questions, zero-shot (supplement, Table 1)."""
    input:
        unpack(suite_paths.published_inputs(settings)),
        weights=published_records(settings),
    output:
        submission=f"{SUITE}/grounding/published/{{published}}/{{test}}.jsonl",
        facts=f"{SUITE}/grounding/published/{{published}}/{{test}}.facts.json",
        text=f"{SUITE}/grounding/published/{{published}}/{{test}}.h5",
    log:
        f"logs/{settings.name}/ground_by_published_weights/{{published}}-{{test}}.log",
    conda:
        "../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        mem_mb=scale_by_attempt(settings.retrieval.memory_mb + 4000),
        runtime=minutes(120),
        disk_mb=2000,
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("rextime/ground_as_published.py"),
        encoder=lambda wildcards: settings.rextime.published[wildcards.published].text_encoder,
        revision=lambda wildcards: settings.rextime.published[wildcards.published].text_revision,
        search=suite_paths.published_search(settings),
        sources=suite_paths.published_sources(settings),
        released=lambda wildcards: wildcards.test.startswith(suite_paths.RELEASED),
        model_code=suite_paths.published_code,
    script:
        "../scripts/rextime/ground_as_published.py"


rule fine_tune_grounder:
    """A retrieval model learns from the questions of train where their answers are shown (supplement, Table 2)."""
    input:
        unpack(suite_paths.grounding_inputs(settings)),
        questions=f"{SUITE}/annotations/{suite_paths.TRAIN}.jsonl",
        weights=text_records(settings),
    output:
        checkpoint=f"{SUITE}/fine-tuned/{{grounded}}/{{grounder}}/checkpoint.safetensors",
        record=f"{SUITE}/fine-tuned/{{grounded}}/{{grounder}}/log.jsonl",
        text=f"{SUITE}/fine-tuned/{{grounded}}/{{grounder}}/text.h5",
    log:
        f"logs/{settings.name}/fine_tune_grounder/{{grounded}}-{{grounder}}.log",
    retries: tries(1440)
    conda:
        "../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        mem_mb=scale_by_attempt(settings.retrieval.memory_mb + 4000),
        runtime=minutes(1440),
        disk_mb=2000,
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("rextime/fine_tune.py"),
        features=settings.features.model_dump(
            mode="json", exclude={"video_backbone", "video_revision", "fps", "precision"}
        ),
        settings=suite_paths.fine_tuning_values(settings),
        sources=lambda wildcards: suite_paths.sources_of(settings, wildcards.grounded),
        model_code=suite_paths.grounder_code,
    script:
        "../scripts/rextime/fine_tune.py"


use rule ground_rextime_questions as ground_after_fine_tuning with:
    input:
        checkpoint=rules.fine_tune_grounder.output.checkpoint,
        video=lambda wildcards: suite_paths.grounding_inputs(settings)(wildcards)["video"],
        questions=QUESTIONS,
        weights=text_records(settings),
    output:
        submission=f"{SUITE}/grounding/{{grounded}}/fine-tuned/{{grounder}}.jsonl",
        text=f"{SUITE}/grounding/{{grounded}}/fine-tuned/{{grounder}}.h5",
    log:
        f"logs/{settings.name}/ground_after_fine_tuning/{{grounded}}-{{grounder}}.log",


rule score_rextime:
    """Scores of everybody who took the test, with intervals, beside two baselines that see no video."""
    input:
        questions=suite_paths.question_files_by_name(settings).values(),
        submissions=[file for system in suite_paths.systems(settings).values() for file in system["files"]],
        videos=sorted({file for system in suite_paths.systems(settings).values() for file in system.get("videos", [])}),
        origins=suite_paths.origins(settings),
    output:
        results=f"{SUITE}/results.json",
    log:
        f"logs/{settings.name}/score_rextime.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("rextime/score.py"),
        tested=suite_paths.question_files_by_name(settings),
        systems=suite_paths.systems(settings),
        seed=settings.seed,
    script:
        "../scripts/rextime/score.py"
