from verified.config.folders import dataset_wildcards, datasets_with
from verified.config.trust import confidence_warning
from verified.tables.inputs import finest_submissions
from verified.lmm.tasks.transcription import TRANSCRIPTION
from verified_lab.config import Audit, Review, limits, measured
from verified_lab.quality.transcripts import subtitles_of_shard
from verified_lab.scene_captions import COARSE_CAPTION

LIMITS = limits(settings)
REVIEWED = settings.section(Review)
AUDIT = deciding(settings.section(Audit) or Audit())


rule caption_scenes:
    """A first coarse caption for each scene, of videos without moments or with `propose_moments`."""
    input:
        **ASKING.inputs([COARSE_CAPTION], "video_lmm"),
        scenes=rules.detect_scenes.output.scenes,
    output:
        captions=layout.scene_captions,
        counts="results/{dataset}/corpus/scenes/{shard}.counts.json",
    log:
        "logs/{dataset}/caption_scenes/{shard}.log",
    conda:
        f"../{ASKING.environment('video_lmm')}"
    threads: settings.generation.threads
    resources:
        **ASKING.needs("video_lmm"),
    params:
        **ASKING.params([COARSE_CAPTION], "video_lmm"),
        code=code_of("extensions/lab/scripts/caption_scenes.py"),
        dynamics=dataset_settings("dynamics"),
        seed=settings.seed,
    script:
        "scripts/caption_scenes.py"


rule propose_moments:
    """A moments file for people to correct, from scenes and their captions."""
    input:
        scenes=layout.shards(layout.scene_captions),
        hashes=expand(rules.hash_videos.output.hashes, shard=SHARDS, allow_missing=True),
    output:
        moments="results/{dataset}/corpus/proposed.csv",
    log:
        "logs/{dataset}/propose_moments.log",
    conda:
        "../../envs/asking.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("extensions/lab/scripts/propose_moments.py"),
        proposals=dataset_settings("proposals"),
        splits=of_key(split_settings),
        seed=settings.seed,
    script:
        "scripts/propose_moments.py"


rule review:
    """Pages on which people review captions, for every data set that is annotated here."""
    input:
        page_folders("review"),


rule prepare_review:
    """Review pages: each moment with its clip, its candidates and their scores; decisions are saved from the page."""
    input:
        moments=layout.moments,
        videos=rules.build_corpus.output.videos,
        scores=layout.shards(layout.scores),
        agreement=AGREEMENT,
    output:
        pages=directory("results/{dataset}/review/pages"),
    log:
        "logs/{dataset}/prepare_review.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(4000, minutes=240),
    params:
        code=code_of("extensions/lab/scripts/prepare_pages.py"),
        review=deciding(REVIEWED, ("clip_side", "context", "moments", "order")),
        lint=deciding(settings.annotations.lint),
        title=title_of,
        warning=of_key(confidence_warning),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
    script:
        "scripts/prepare_pages.py"


if REVIEWED.decisions:

    rule adjudicate_review:
        """Outcomes of reviewers' decisions, the state of each decision, and the agreement of reviewers."""
        input:
            review=list(REVIEWED.decisions),
            moments=layout.moments,
            scores=layout.shards(layout.scores),
        output:
            outcomes="results/{dataset}/annotations/review/settled.json",
            tables="results/{dataset}/annotations/review/tables.json",
        log:
            "logs/{dataset}/adjudicate_review.log",
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(2000, minutes=15),
        params:
            code=code_of("extensions/lab/scripts/adjudicate_review.py"),
            datasets=list(settings.datasets),
            lint=deciding(settings.annotations.lint),
            title=title_of,
        script:
            "scripts/adjudicate_review.py"

    rule choose_reviewed:
        """The captions of the moments of a split, by scores and by reviewers' decisions."""
        input:
            moments=layout.moments,
            scores=layout.shards(layout.scores),
            agreement=AGREEMENT,
            review=rules.adjudicate_review.output.outcomes,
        output:
            fig=rules.choose_annotations.output.fig,
            lowest=rules.choose_annotations.output.lowest,
            selection=rules.choose_annotations.output.selection,
        log:
            "logs/{dataset}/choose_reviewed/{split}.log",
        wildcard_constraints:
            dataset=datasets("annotated_here"),
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(2000, minutes=30),
        params:
            code=code_of("extensions/lab/scripts/choose_reviewed.py"),
            seed=settings.seed,
            annotations=deciding(settings.annotations, CHOICE),
            review=deciding(REVIEWED, ("min_precision",)),
        script:
            "scripts/choose_reviewed.py"

    rule list_reviewed:
        """All moments of a split with their coarse captions, at the times that reviewers gave them."""
        input:
            moments=layout.moments,
            review=rules.adjudicate_review.output.outcomes,
        output:
            annotations=rules.list_coarse_captions.output.annotations,
        log:
            "logs/{dataset}/list_reviewed/{split}.log",
        wildcard_constraints:
            dataset=datasets("annotated_here"),
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(2000, minutes=30),
        params:
            code=code_of("extensions/lab/scripts/list_reviewed.py"),
        script:
            "scripts/list_reviewed.py"

    ruleorder: choose_reviewed > choose_annotations
    ruleorder: list_reviewed > list_coarse_captions

    STAGE_TABLES += expand(
        rules.adjudicate_review.output.tables,
        dataset=dataset_wildcards(settings, datasets_with(settings, "annotated_here")),
    )


rule audit:
    """Pages for people to confirm or correct the audit's findings, for every data set annotated by this run."""
    input:
        page_folders("audit"),


rule audit_annotations:
    """Queries that are not unique in their video, spans in doubt, and videos in two splits."""
    input:
        annotations=of_key(annotation_files),
        submissions=of_key(finest_submissions),
        hashes=of_dataset(lambda dataset: layout.shards(layout.hashes) if dataset.source.annotated_here else []),
        embeddings=rules.embed_captions.output[0],
    output:
        findings="results/{dataset}/audit/findings.jsonl",
        summary="results/{dataset}/audit/summary.json",
    log:
        "logs/{dataset}/audit_annotations.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("extensions/lab/scripts/audit_annotations.py"),
        audit=AUDIT,
        test_split=of_dataset(lambda dataset: dataset.spans.test_split),
    script:
        "scripts/audit_annotations.py"


# Pages of the moments with findings; decisions on them go where those of the review go.
use rule prepare_review as prepare_audit with:
    input:
        findings=rules.audit_annotations.output.findings,
        moments=layout.moments,
        videos=rules.build_corpus.output.videos,
        scores=layout.shards(layout.scores),
        agreement=AGREEMENT,
    output:
        pages=directory("results/{dataset}/audit/pages"),
    log:
        "logs/{dataset}/prepare_audit.log",


if LIMITS:

    rule measure_quality:
        """Measures of the moments of one shard, before any model call: pictures, written text, loudness."""
        input:
            moments=rules.find_moments.output.moments,
            videos=rules.find_moments.output.videos,
        output:
            measures="results/{dataset}/corpus/found/{shard}.measures.jsonl",
        log:
            "logs/{dataset}/measure_quality/{shard}.log",
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(2000, minutes=240),
        params:
            code=code_of("extensions/lab/scripts/measure_quality.py"),
            quality=of_key(measured),
            shards=settings.shards,
        script:
            "scripts/measure_quality.py"

    rule transcribe_videos:
        """Transcripts of the videos of one shard: subtitles next to them, or a model of speech."""
        input:
            videos=rules.find_moments.output.videos,
            subtitles=of_shard(subtitles_of_shard),
            cassettes=ASKING.cassettes("speech"),
        output:
            transcripts="results/{dataset}/corpus/found/{shard}.transcripts.jsonl",
            counts="results/{dataset}/corpus/found/{shard}.transcripts.counts.json",
        log:
            "logs/{dataset}/transcribe_videos/{shard}.log",
        conda:
            "../../envs/asking.yaml"
        resources:
            **needs(2000, minutes=240),
            api_slots=ASKING.api_slots("speech"),
        params:
            **ASKING.params([TRANSCRIPTION], "speech"),
            code=code_of("extensions/lab/scripts/transcribe_videos.py"),
            asks=of_key(lambda settings, name: LIMITS[name].transcripts == "speech"),
            seed=settings.seed,
        script:
            "scripts/transcribe_videos.py"

    rule judge_moments:
        """The table of one shard's moments: all measures, speech, and the reason of an exclusion."""
        input:
            measures=rules.measure_quality.output.measures,
            transcripts=of_key(
                lambda settings, name: [rules.transcribe_videos.output.transcripts] if LIMITS[name].transcripts else []
            ),
            measures_of_all=of_key(
                lambda settings, name: (
                    [] if LIMITS[name].max_alike is None else layout.shards(rules.measure_quality.output.measures)
                )
            ),
        output:
            quality="results/{dataset}/corpus/shards/{shard}.quality.jsonl",
        log:
            "logs/{dataset}/judge_moments/{shard}.log",
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(1000, minutes=15),
        params:
            code=code_of("extensions/lab/scripts/judge_moments.py"),
            quality=of_key(lambda settings, name: deciding(LIMITS[name])),
        script:
            "scripts/judge_moments.py"

    # Its outputs are exactly those of probe_videos: Snakemake compares inputs and parameters with its records only if all
    # outputs are recorded, and filters may be set, or removed, after a run.
    rule select_moments:
        """The moments of one shard that keep the limits of quality."""
        input:
            moments=rules.find_moments.output.moments,
            videos=rules.find_moments.output.videos,
            probes=rules.find_moments.output.probes,
            quality=rules.judge_moments.output.quality,
        output:
            moments=layout.shard_moments,
            videos=layout.shard_videos,
            probes="results/{dataset}/corpus/shards/{shard}.probes.jsonl",
        log:
            "logs/{dataset}/select_moments/{shard}.log",
        wildcard_constraints:
            dataset=filtered_pattern(settings, True),
        conda:
            "../../envs/data.yaml"
        resources:
            **needs(1000, minutes=15),
        params:
            code=code_of("extensions/lab/scripts/select_moments.py"),
            quality=of_key(lambda settings, name: deciding(LIMITS[name])),
        script:
            "scripts/select_moments.py"
