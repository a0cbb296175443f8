from verified.lmm.tasks.transcription import TRANSCRIPTION

FILTERED = filtered_pattern(settings, True)
# A changed limit repeats no measurement, except for the first limit on text, which is measured only then.
MEASURED = of_dataset(
    lambda dataset: {
        "fps": dataset.quality.fps,
        "max_text": None if dataset.quality.max_text is None else 0.0,
    }
)
LIMITS = of_dataset(lambda dataset: dataset.quality.model_dump(mode="json"))


# Before quality excludes any moment.
use rule probe_videos as find_moments with:
    output:
        moments="results/{dataset}/corpus/found/{shard}.moments.jsonl",
        videos="results/{dataset}/corpus/found/{shard}.videos.jsonl",
        probes="results/{dataset}/corpus/found/{shard}.probes.jsonl",
    log:
        "logs/{dataset}/find_moments/{shard}.log",
    wildcard_constraints:
        dataset=FILTERED,
    priority: 0


rule measure_quality:
    """Measures of the moments of one shard, before any model call: pictures, written text, loudness."""
    input:
        moments=rules.find_moments.output.moments,
        videos=rules.find_moments.output.videos,
    output:
        measures="results/{dataset}/corpus/found/{shard}.measures.jsonl",
    log:
        "logs/{dataset}/measure_quality/{shard}.log",
    wildcard_constraints:
        dataset=FILTERED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=240),
    params:
        code=code_of("corpus/measure_quality.py"),
        quality=MEASURED,
        shards=settings.shards,
    script:
        "../scripts/corpus/measure_quality.py"


rule transcribe_videos:
    """Transcripts of the videos of one shard: subtitles next to them, or a model of speech."""
    input:
        videos=rules.find_moments.output.videos,
        cassettes=ASKING.cassettes("speech"),
    output:
        transcripts="results/{dataset}/corpus/found/{shard}.transcripts.jsonl",
        counts="results/{dataset}/corpus/found/{shard}.transcripts.counts.json",
    log:
        "logs/{dataset}/transcribe_videos/{shard}.log",
    wildcard_constraints:
        dataset=FILTERED,
    conda:
        "../envs/asking.yaml"
    resources:
        **needs(2000, minutes=240),
        api_slots=ASKING.api_slots("speech"),
    params:
        code=code_of("corpus/transcribe.py"),
        asks=of_dataset(lambda dataset: dataset.quality.transcripts == "speech"),
        engines=ASKING.engine_code("speech"),
        generation=ASKING.values(TRANSCRIPTION),
        asked_in=asked_in_of("results/{dataset}/corpus/found/{shard}.transcripts.counts.json"),
        seed=settings.seed,
    script:
        "../scripts/corpus/transcribe.py"


rule judge_moments:
    """The table of one shard's moments: all measures, speech, and the reason of an exclusion."""
    input:
        measures=rules.measure_quality.output.measures,
        transcripts=of_dataset(
            lambda dataset: [rules.transcribe_videos.output.transcripts] if dataset.quality.transcripts else []
        ),
        measures_of_all=of_dataset(
            lambda dataset: (
                [] if dataset.quality.max_alike is None else layout.shards(rules.measure_quality.output.measures)
            )
        ),
    output:
        quality="results/{dataset}/corpus/shards/{shard}.quality.jsonl",
    log:
        "logs/{dataset}/judge_moments/{shard}.log",
    wildcard_constraints:
        dataset=FILTERED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("corpus/judge_moments.py"),
        quality=LIMITS,
    script:
        "../scripts/corpus/judge_moments.py"


# Its outputs are exactly those of probe_videos: Snakemake compares inputs and parameters with its records only if all
# outputs are recorded, and quality may be set, or removed, after a run.
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
        dataset=FILTERED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("corpus/select_moments.py"),
        quality=LIMITS,
    script:
        "../scripts/corpus/select_moments.py"
