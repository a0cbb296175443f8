from verified.corpus.shards import videos_state
from verified.weights.wanted import role_records, text_records
from verified_rextime import jobs as rextime
from verified_rextime.answer import TASKS as PROTOCOL_TASKS
from verified_rextime.config import Rextime
from verified_rextime.tasks import GENERATION, LOCATE, SCORING

SECTION = settings.section(Rextime)
REXTIME = rextime.folder(settings)
QUESTIONS = expand(f"{REXTIME}/annotations/{{split}}.jsonl", split=rextime.splits(SECTION))


rule filter_rextime_sources:
    """Items of the sources after the filters (ReXTime supplement, C.2), with every rejection and its reason."""
    input:
        rextime.source_inputs(settings),
    output:
        rows=f"{REXTIME}/items.jsonl",
        rejected=f"{REXTIME}/rejected.jsonl",
        counts=f"{REXTIME}/sources.json",
    log:
        f"logs/{settings.name}/filter_rextime_sources.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("extensions/rextime/scripts/filter_sources.py"),
        section=deciding(SECTION, ("captions", "sources")),
        corpora=rextime.corpora(settings),
    script:
        "scripts/filter_sources.py"


rule probe_rextime_videos:
    """The videos behind the items of a shard; those of a folder are decoded once and described."""
    input:
        rows=rules.filter_rextime_sources.output.rows,
        corpora=rextime.corpus_videos(settings),
    output:
        videos=f"{REXTIME}/videos/{{shard}}.jsonl",
        missing=f"{REXTIME}/videos/{{shard}}.missing.jsonl",
    log:
        f"logs/{settings.name}/probe_rextime_videos/{{shard}}.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(2000, minutes=240),
    params:
        code=code_of("extensions/rextime/scripts/probe_videos.py"),
        section=deciding(SECTION, ("sources",)),
        corpora=rextime.corpora(settings),
        shards=settings.shards,
        videos=lambda wildcards: {
            folder: videos_state(folder, wildcards.shard, settings.shards)
            for folder in rextime.video_folders(settings)
        },
    script:
        "scripts/probe_videos.py"


rule write_rextime_questions:
    """Event pairs, questions in both directions, verification and wrong options of a shard (C.8.1 to C.8.7)."""
    input:
        **ASKING.inputs(GENERATION, "llm", "video_lmm"),
        rows=rules.filter_rextime_sources.output.rows,
        videos=rules.probe_rextime_videos.output.videos,
    output:
        questions=f"{REXTIME}/questions/{{shard}}.jsonl",
        to_mark=f"{REXTIME}/questions/{{shard}}.to-mark.jsonl",
        fates=f"{REXTIME}/questions/{{shard}}.fates.jsonl",
        corrupted=f"{REXTIME}/questions/{{shard}}.corrupted.jsonl",
        counts=f"{REXTIME}/questions/{{shard}}.counts.json",
    log:
        f"logs/{settings.name}/write_rextime_questions/{{shard}}.log",
    conda:
        "../" + ASKING.environment("llm", "video_lmm")
    threads: settings.generation.threads
    resources:
        **ASKING.needs("llm", "video_lmm"),
    params:
        **ASKING.params(GENERATION, "llm", "video_lmm"),
        code=code_of("extensions/rextime/scripts/write_questions.py"),
        rextime=deciding(SECTION, ("frames", "routing", "verification_threshold")),
        shards=settings.shards,
        seed=settings.seed,
    script:
        "scripts/write_questions.py"


rule collect_rextime_questions:
    """The questions by split in the released form, pages for review, statistics (C.6), and outcomes of all items."""
    input:
        questions=expand(rules.write_rextime_questions.output.questions, shard=SHARDS),
        to_mark=expand(rules.write_rextime_questions.output.to_mark, shard=SHARDS),
        counts=expand(rules.write_rextime_questions.output.counts, shard=SHARDS),
    output:
        splits=QUESTIONS,
        to_review=expand(f"{REXTIME}/review/{{split}}.jsonl", split=rextime.tested_splits(SECTION)),
        statistics=f"{REXTIME}/statistics.json",
        counts=f"{REXTIME}/counts.json",
    log:
        f"logs/{settings.name}/collect_rextime_questions.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(2000, minutes=10),
    params:
        code=code_of("extensions/rextime/scripts/collect_questions.py"),
    script:
        "scripts/collect_questions.py"


FREE = rextime.free_answers(settings)
SYSTEMS = rextime.systems(settings)
# Files that only exist if questions are written.
WRITTEN = SECTION.sources


rule tabulate_rextime:
    """The ReXTime tables, for `build_tables`."""
    input:
        sources=[rules.filter_rextime_sources.output.counts] if WRITTEN else [],
        counts=[rules.collect_rextime_questions.output.counts] if WRITTEN else [],
        statistics=[rules.collect_rextime_questions.output.statistics] if WRITTEN else [],
        released=rextime.given_files(settings).values(),
        answers=rextime.answer_files(settings),
        free=list(dict.fromkeys(file for test in FREE.values() for file in (test["questions"], *test["answers"]))),
        results=[f"{REXTIME}/results.json"] if rextime.question_files_by_name(settings) else [],
        published=PUBLISHED,
    output:
        tables=f"{REXTIME}/tables.json",
    log:
        f"logs/{settings.name}/tabulate_rextime.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("extensions/rextime/scripts/tabulate.py"),
        prices=deciding(SECTION.prices),
        released=rextime.given_files(settings),
        free=FREE,
        video_lmm=settings.generation.video_lmm.model,
    script:
        "scripts/tabulate.py"


STAGE_TABLES += rules.tabulate_rextime.output

ADAPTER = rextime.adapter(settings) or []


wildcard_constraints:
    protocol="|".join(PROTOCOL_TASKS),
    tuned=f"(?:{rextime.TUNED})?",
    released=one_of(SECTION.released),
    grounded=one_of(rextime.datasets_used(settings)),
    grounder="[a-z0-9_]+-[a-z-]+",
    published=one_of(SECTION.published),
    test=r"suite|(?:dataset|released)-[^/]+",


if rextime.adapter(settings):

    rule fine_tune_video_lmm:
        """The video LMM learns from the questions of train by low-rank adapters (ReXTime supplement, C.5)."""
        input:
            questions=f"{REXTIME}/annotations/{rextime.TRAIN}.jsonl",
            videos=expand(rules.probe_rextime_videos.output.videos, shard=SHARDS),
            prompts=ASKING.prompts(LOCATE, SCORING),
            weights=role_records(settings, "video_lmm"),
        output:
            adapter=rextime.adapter(settings),
            card=rextime.card(settings)[0],
            record=f"{REXTIME}/fine-tuned/video-lmm/log.jsonl",
        log:
            f"logs/{settings.name}/fine_tune_video_lmm.log",
        retries: tries(1440)
        conda:
            "../" + ASKING.environment("video_lmm")
        threads: settings.generation.threads
        resources:
            **needs(8000 if not ASKING.gpus("video_lmm") else 64000, minutes=1440, disk_mb=4000),
            gpu=ASKING.gpus("video_lmm"),
        params:
            code=code_of("extensions/rextime/scripts/fine_tune_lmm.py"),
            engines=ASKING.engine_code("video_lmm"),
            generation=ASKING.values(LOCATE, SCORING),
            frames=SECTION.frames,
            lora=deciding(SECTION.lora),
            seed=settings.seed,
        script:
            "scripts/fine_tune_lmm.py"


rule answer_rextime_questions:
    """The video LMM, zero-shot or fine-tuned, takes the test by one protocol (ReXTime supplement, C.5), by shard."""
    input:
        questions=rules.write_rextime_questions.output.questions,
        videos=rules.probe_rextime_videos.output.videos,
        adapter=lambda wildcards: ADAPTER if wildcards.tuned else [],
        prompts=lambda wildcards: ASKING.prompts(*PROTOCOL_TASKS[wildcards.protocol]),
        before=lambda wildcards: ASKING.before(*PROTOCOL_TASKS[wildcards.protocol]),
        weights=role_records(settings, "video_lmm"),
        cassettes=ASKING.cassettes("video_lmm"),
    output:
        submission=f"{REXTIME}/answers/{{tuned}}{{protocol}}/{{shard}}.jsonl",
        failures=f"{REXTIME}/answers/{{tuned}}{{protocol}}/{{shard}}.failures.jsonl",
        counts=f"{REXTIME}/answers/{{tuned}}{{protocol}}/{{shard}}.counts.json",
    log:
        f"logs/{settings.name}/answer_rextime_questions/{{tuned}}{{protocol}}-{{shard}}.log",
    conda:
        "../" + ASKING.environment("video_lmm")
    threads: settings.generation.threads
    resources:
        **ASKING.needs("video_lmm"),
    params:
        **ASKING.params(lambda wildcards: PROTOCOL_TASKS[wildcards.protocol], "video_lmm"),
        code=code_of("extensions/rextime/scripts/answer_questions.py"),
        frames=SECTION.frames,
        seed=settings.seed,
    script:
        "scripts/answer_questions.py"


rule sample_released_questions:
    """The part of given questions that is a separate test, such as the mini test (ReXTime supplement, D.3)."""
    input:
        questions=lambda wildcards: SECTION.released[wildcards.released].questions,
        only=lambda wildcards: SECTION.released[wildcards.released].only or [],
    output:
        sample=f"{REXTIME}/released/{{released}}/sample.jsonl",
    log:
        f"logs/{settings.name}/sample_released_questions/{{released}}.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("extensions/rextime/scripts/sample_released.py"),
        given=lambda wildcards: deciding(
            SECTION.released[wildcards.released], ("only", "per_kind", "questions", "scored")
        ),
        seed=settings.seed,
    script:
        "scripts/sample_released.py"


rule list_released_questions:
    """A shard of given questions, and their videos in a folder, decoded once and described."""
    input:
        questions=lambda wildcards: rextime.given_file(settings, wildcards.released),
        folder=lambda wildcards: ancient(SECTION.released[wildcards.released].videos),
    output:
        questions=f"{REXTIME}/released/{{released}}/questions/{{shard}}.jsonl",
        videos=f"{REXTIME}/released/{{released}}/videos/{{shard}}.jsonl",
        missing=f"{REXTIME}/released/{{released}}/videos/{{shard}}.missing.jsonl",
    log:
        f"logs/{settings.name}/list_released_questions/{{released}}-{{shard}}.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(2000, minutes=240),
    params:
        code=code_of("extensions/rextime/scripts/list_released.py"),
        scored=lambda wildcards: SECTION.released[wildcards.released].scored,
        shards=settings.shards,
        videos=lambda wildcards: videos_state(
            SECTION.released[wildcards.released].videos, wildcards.shard, settings.shards
        ),
    script:
        "scripts/list_released.py"


use rule answer_rextime_questions as answer_released_questions with:
    input:
        questions=f"{REXTIME}/released/{{released}}/questions/{{shard}}.jsonl",
        videos=f"{REXTIME}/released/{{released}}/videos/{{shard}}.jsonl",
        adapter=lambda wildcards: ADAPTER if wildcards.tuned else [],
        prompts=lambda wildcards: ASKING.prompts(*PROTOCOL_TASKS[wildcards.protocol], LOCATE),
        before=lambda wildcards: ASKING.before(*PROTOCOL_TASKS[wildcards.protocol], LOCATE),
        weights=role_records(settings, "video_lmm"),
        cassettes=ASKING.cassettes("video_lmm"),
    output:
        submission=f"{REXTIME}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.jsonl",
        failures=f"{REXTIME}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.failures.jsonl",
        counts=f"{REXTIME}/released/{{released}}/answers/{{tuned}}{{protocol}}/{{shard}}.counts.json",
    log:
        f"logs/{settings.name}/answer_released_questions/{{released}}/{{tuned}}{{protocol}}-{{shard}}.log",
    params:
        generation=lambda wildcards: ASKING.values(*PROTOCOL_TASKS[wildcards.protocol], LOCATE),


rule join_released_answers:
    """The video LMM's answers to given questions as a submission, for `verified evaluate` or a leaderboard."""
    input:
        questions=lambda wildcards: rextime.given_file(settings, wildcards.released),
        shards=expand(
            f"{REXTIME}/released/{{{{released}}}}/answers/{{{{tuned}}}}{{{{protocol}}}}/{{shard}}.jsonl", shard=SHARDS
        ),
    output:
        submission=f"{REXTIME}/released/{{released}}/{{tuned}}{{protocol}}.jsonl",
    log:
        f"logs/{settings.name}/join_released_answers/{{released}}/{{tuned}}{{protocol}}.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("extensions/rextime/scripts/join_answers.py"),
    script:
        "scripts/join_answers.py"


rule ground_rextime_questions:
    """A retrieval model finds the spans of a data set's questions in their videos: the question is its query."""
    input:
        unpack(partial(rextime.grounding_inputs, settings)),
        questions=QUESTIONS,
        weights=text_records(settings),
    output:
        submission=f"{REXTIME}/grounding/{{grounded}}/{{grounder}}.jsonl",
        text=f"{REXTIME}/grounding/{{grounded}}/{{grounder}}.h5",
    log:
        f"logs/{settings.name}/ground_rextime_questions/{{grounded}}-{{grounder}}.log",
    wildcard_constraints:
        grounder=".+-.+",
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(settings.retrieval.memory_mb + 4000, minutes=60, disk_mb=2000),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("extensions/rextime/scripts/ground_questions.py"),
        features=rules.extract_text_features.params.features,
        search=partial(rextime.grounding_settings, settings),
        sources=lambda wildcards: rextime.sources_of(settings, wildcards.grounded),
        model_code=rextime.grounder_code,
    script:
        "scripts/ground_questions.py"


rule ground_by_published_weights:
    """A grounding model with its authors' weights finds the spans of questions, zero-shot (supplement, Table 1)."""
    input:
        unpack(partial(rextime.published_inputs, settings)),
        weights=lambda wildcards: rextime.published_records(settings, wildcards.published),
    output:
        submission=f"{REXTIME}/grounding/published/{{published}}/{{test}}.jsonl",
        facts=f"{REXTIME}/grounding/published/{{published}}/{{test}}.facts.json",
        text=f"{REXTIME}/grounding/published/{{published}}/{{test}}.h5",
    log:
        f"logs/{settings.name}/ground_by_published_weights/{{published}}-{{test}}.log",
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(settings.retrieval.memory_mb + 4000, minutes=120, disk_mb=2000),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("extensions/rextime/scripts/ground_as_published.py"),
        encoder=lambda wildcards: SECTION.published[wildcards.published].text_encoder,
        revision=lambda wildcards: SECTION.published[wildcards.published].text_revision,
        search=rextime.published_search(settings),
        sources=partial(rextime.published_sources, settings),
        released=lambda wildcards: wildcards.test.startswith(rextime.RELEASED),
        model_code=rextime.published_code,
    script:
        "scripts/ground_as_published.py"


rule fine_tune_grounder:
    """A retrieval model learns from the questions of train where their answers are shown (supplement, Table 2)."""
    input:
        unpack(partial(rextime.grounding_inputs, settings)),
        questions=f"{REXTIME}/annotations/{rextime.TRAIN}.jsonl",
        weights=text_records(settings),
    output:
        checkpoint=f"{REXTIME}/fine-tuned/{{grounded}}/{{grounder}}/checkpoint.safetensors",
        record=f"{REXTIME}/fine-tuned/{{grounded}}/{{grounder}}/log.jsonl",
        text=f"{REXTIME}/fine-tuned/{{grounded}}/{{grounder}}/text.h5",
    log:
        f"logs/{settings.name}/fine_tune_grounder/{{grounded}}-{{grounder}}.log",
    retries: tries(1440)
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(settings.retrieval.memory_mb + 4000, minutes=1440, disk_mb=2000),
        gpu=int(settings.retrieval.device == "cuda"),
    params:
        code=code_of("extensions/rextime/scripts/fine_tune.py"),
        features=rules.extract_text_features.params.features,
        settings=partial(rextime.fine_tuning_settings, settings),
        sources=lambda wildcards: rextime.sources_of(settings, wildcards.grounded),
        model_code=rextime.grounder_code,
    script:
        "scripts/fine_tune.py"


use rule ground_rextime_questions as ground_after_fine_tuning with:
    input:
        checkpoint=rules.fine_tune_grounder.output.checkpoint,
        video=lambda wildcards: layout.path(layout.video_features, wildcards.grounded),
        questions=QUESTIONS,
        weights=text_records(settings),
    output:
        submission=f"{REXTIME}/grounding/{{grounded}}/fine-tuned/{{grounder}}.jsonl",
        text=f"{REXTIME}/grounding/{{grounded}}/fine-tuned/{{grounder}}.h5",
    log:
        f"logs/{settings.name}/ground_after_fine_tuning/{{grounded}}-{{grounder}}.log",


rule score_rextime:
    """Scores of all test takers, with intervals, and of two baselines without video."""
    input:
        questions=rextime.question_files_by_name(settings).values(),
        submissions=[file for system in SYSTEMS.values() for file in system["files"]],
        videos=sorted({file for system in SYSTEMS.values() for file in system.get("videos", [])}),
        origins=rextime.card(settings) + [file for system in SYSTEMS.values() for file in system.get("weights", ())],
    output:
        results=f"{REXTIME}/results.json",
    log:
        f"logs/{settings.name}/score_rextime.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("extensions/rextime/scripts/score.py"),
        tested=rextime.question_files_by_name(settings),
        systems=SYSTEMS,
        seed=settings.seed,
    script:
        "scripts/score.py"


if SECTION.sources:

    rule export_questions:
        """The questions as others read them: Parquet and Croissant, with a card that names licence, models and checksums."""
        input:
            questions=rules.collect_rextime_questions.output.splits,
        output:
            directory(f"{REXTIME}/export/hugging-face"),
        log:
            f"logs/{settings.name}/export_questions.log",
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(2000, minutes=30),
        params:
            code=code_of("extensions/rextime/scripts/export_questions.py"),
            about=rextime.card_facts(settings),
        script:
            "scripts/export_questions.py"
