from verified.lmm.tasks.transcription import TRANSCRIPTION
from verified_longform import jobs as movie_jobs
from verified_longform.config import Longform

MOVIES = movie_jobs.folder(settings)
MOVIE_LOGS = f"logs/{settings.name}/longform"
LONGFORM = settings.section(Longform)
SETS = LONGFORM.datasets
ENCODER = deciding(LONGFORM, ("encoder", "encoder_batch", "encoder_gpu", "encoder_revision", "encoder_threads"))
# Roles that write down tracks without a transcript.
LISTENING = ["speech"] if settings.generation.speech else []


def movie_figure(name, shows):
    """Outputs of a figure: SVG, which the report shows, and CSV."""
    stem, about = f"{MOVIES}/figures/{name}", {"caption": "report/longform.rst", "category": "Long videos"}
    return [report(f"{stem}.svg", labels={"figure": shows}, **about), f"{stem}.csv"]


def movies_of(*fields):
    """A params function: these settings of the data set of movies, or all."""
    return lambda wildcards: deciding(SETS[wildcards.movies], fields or None)


wildcard_constraints:
    movies=one_of(SETS),
    training=one_of(movie_jobs.trainings(settings)),


rule render_movies:
    """Synthetic movies of the demo, sound tracks and descriptions with their planted truth."""
    output:
        source=directory(f"{MOVIES}/{{movies}}/source"),
    log:
        f"{MOVIE_LOGS}/render_movies/{{movies}}.log",
    wildcard_constraints:
        movies=one_of(movie_jobs.rendered_sets(settings)),
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(2000, minutes=30, disk_mb=500),
    params:
        code=code_of("extensions/longform/scripts/render_movies.py"),
        movies=movies_of("source"),
        fps=LONGFORM.grid.fps,
        seed=settings.seed,
    script:
        "scripts/render_movies.py"


rule collect_movie:
    """A described track to grounded sentences: delay, transcript, dialogue out (section 3.1); a job a movie."""
    input:
        unpack(partial(movie_jobs.part_inputs, settings)),
        cassettes=ASKING.cassettes(*LISTENING),
    output:
        part=f"{MOVIES}/{{movies}}/collecting/{{part}}.json",
    log:
        f"{MOVIE_LOGS}/collect_movie/{{movies}}/{{part}}.log",
    wildcard_constraints:
        movies=one_of(movie_jobs.collected_sets(settings)),
        part="[a-z0-9]+",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(2000, minutes=60, disk_mb=500),
        api_slots=ASKING.api_slots(*LISTENING),
    params:
        code=code_of("extensions/longform/scripts/collect.py"),
        settings=deciding(LONGFORM.collection),
        generation=ASKING.values(TRANSCRIPTION),
        seed=settings.seed,
        engines=ASKING.engine_code(*LISTENING),
    script:
        "scripts/collect.py"


rule join_collection:
    """Grounded sentences of all movies in MAD's form, and a report on each."""
    input:
        parts=lambda wildcards: expand(
            rules.collect_movie.output.part,
            part=movie_jobs.collection_parts(settings, wildcards.movies),
            allow_missing=True,
        ),
    output:
        rows=directory(f"{MOVIES}/{{movies}}/collected"),
    log:
        f"{MOVIE_LOGS}/join_collection/{{movies}}.log",
    wildcard_constraints:
        movies=one_of(movie_jobs.collected_sets(settings)),
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("extensions/longform/scripts/join.py"),
    script:
        "scripts/join.py"


rule extract_movie_features:
    """Frame features of the movies of a shard by the joint encoder, streamed."""
    input:
        unpack(partial(movie_jobs.video_inputs, settings)),
        **movie_jobs.encoder_inputs(settings),
    output:
        features=f"{MOVIES}/{{movies}}/features/frames/{{shard}}.h5",
        failed=f"{MOVIES}/{{movies}}/features/frames/{{shard}}.failed.json",
    log:
        f"{MOVIE_LOGS}/extract_movie_features/{{movies}}/{{shard}}.log",
    retries: tries(1440)
    conda:
        "../../envs/models.yaml"
    threads: LONGFORM.encoder_threads
    resources:
        **needs(4000, minutes=1440, disk_mb=5000),
        gpu=LONGFORM.encoder_gpu,
    params:
        code=code_of("extensions/longform/scripts/extract_features.py"),
        encoder=ENCODER,
        fps=LONGFORM.grid.fps,
        shards=settings.shards,
        movies=partial(movie_jobs.movies_state, settings),
    script:
        "scripts/extract_features.py"


rule link_movie_features:
    """One file of links over the shards."""
    input:
        layout.shards(rules.extract_movie_features.output.features),
    output:
        features=f"{MOVIES}/{{movies}}/features/frames.h5",
    log:
        f"{MOVIE_LOGS}/link_movie_features/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("retrieval/link_released_features.py"),
    script:
        "../../scripts/retrieval/link_released_features.py"


rule list_movie_annotations:
    """Rows of a data set of movies, checked against their movies and features, and exclusions with reasons."""
    input:
        unpack(partial(movie_jobs.annotation_inputs, settings)),
        unpack(movie_jobs.feature_files(settings, "frames")),
    output:
        rows=f"{MOVIES}/{{movies}}/annotations.jsonl",
        exclusions=f"{MOVIES}/{{movies}}/exclusions.jsonl",
        counts=f"{MOVIES}/{{movies}}/counts.json",
    log:
        f"{MOVIE_LOGS}/list_movie_annotations/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(4000, minutes=30),
    params:
        code=code_of("extensions/longform/scripts/list_annotations.py"),
        movies=movies_of(),
    script:
        "scripts/list_annotations.py"


rule extract_sentence_features:
    """Token and sentence features of all usable annotations by the joint encoder."""
    input:
        **movie_jobs.encoder_inputs(settings),
        rows=rules.list_movie_annotations.output.rows,
    output:
        tokens=f"{MOVIES}/{{movies}}/features/tokens.h5",
        sentences=f"{MOVIES}/{{movies}}/features/sentences.h5",
    log:
        f"{MOVIE_LOGS}/extract_sentence_features/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    threads: LONGFORM.encoder_threads
    resources:
        **needs(4000, minutes=240, disk_mb=20000),
        gpu=LONGFORM.encoder_gpu,
    params:
        code=code_of("extensions/longform/scripts/extract_sentence_features.py"),
        encoder=ENCODER,
    script:
        "scripts/extract_sentence_features.py"


rule describe_movies:
    """A row of Tables 1 and 7 with its histograms, of a data set of movies."""
    input:
        rows=rules.list_movie_annotations.output.rows,
    output:
        f"{MOVIES}/{{movies}}/statistics.json",
    log:
        f"{MOVIE_LOGS}/describe_movies/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    threads: LONGFORM.processes
    resources:
        **needs(4000, minutes=120),
    params:
        code=code_of("extensions/longform/scripts/describe.py"),
        kind="movies",
        title=lambda wildcards: SETS[wildcards.movies].title,
        spacy_model=settings.statistics.spacy_model,
        processes=LONGFORM.processes,
    script:
        "scripts/describe.py"


# The same for a data set of the configuration, by its coarse captions.
use rule describe_movies as describe_dataset with:
    input:
        rows=lambda wildcards: layout.path(layout.moments, wildcards.own),
    output:
        f"{MOVIES}/datasets/{{own}}.json",
    log:
        f"{MOVIE_LOGS}/describe_dataset/{{own}}.log",
    wildcard_constraints:
        own=one_of(settings.datasets),
    params:
        kind="moments",
        title=lambda wildcards: settings.datasets[wildcards.own].title,


# The same for a published data set, from its files.
use rule describe_movies as describe_published with:
    input:
        lambda wildcards: movie_jobs.published_files(settings, wildcards.collection),
    output:
        f"{MOVIES}/published/{{collection}}.json",
    log:
        f"{MOVIE_LOGS}/describe_published/{{collection}}.log",
    wildcard_constraints:
        collection=one_of(LONGFORM.published),
    params:
        kind="published",
        title=lambda wildcards: movie_jobs.PUBLISHED[wildcards.collection],
        folder=LONGFORM.published_dir,


rule check_collection:
    """A collection of the demo against its planted truth."""
    input:
        source=rules.render_movies.output.source,
        rows=rules.join_collection.output.rows,
    output:
        check=f"{MOVIES}/{{movies}}/collection.json",
    log:
        f"{MOVIE_LOGS}/check_collection/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("extensions/longform/scripts/check_collection.py"),
    script:
        "scripts/check_collection.py"


MOVIE_STATISTICS = [
    *expand(rules.describe_movies.output, movies=SETS),
    *expand(rules.describe_dataset.output, own=shown_datasets(settings)),
    *expand(rules.describe_published.output, collection=LONGFORM.published),
]


rule draw_movie_statistics:
    """Comparison of data sets; positions of moments; lengths of sentences (Figures 1, 3, 5 and 6)."""
    input:
        statistics=MOVIE_STATISTICS,
    output:
        moments=movie_figure("moments", "moments by data set"),
        sentences=movie_figure("sentences", "length of sentences"),
        datasets=movie_figure("datasets", "data sets beside each other"),
    log:
        f"{MOVIE_LOGS}/draw_movie_statistics.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("extensions/longform/scripts/draw_statistics.py"),
    script:
        "scripts/draw_statistics.py"


rule draw_movies:
    """Moments by split; recall by length (Figure 4); sentences of one movie (2)."""
    input:
        statistics=MOVIE_STATISTICS,
        results=movie_jobs.result_files(settings),
        example=expand(rules.list_movie_annotations.output.rows, movies=list(SETS)[:1]),
    output:
        splits=movie_figure("splits", "moments by split"),
        lengths=movie_figure("lengths", "recall by length of the video"),
        example=movie_figure("example", "sentences of one movie"),
    log:
        f"{MOVIE_LOGS}/draw_movies.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("extensions/longform/scripts/draw.py"),
    script:
        "scripts/draw.py"


REPORT_FILES += rules.draw_movie_statistics.output

if SETS:
    REPORT_FILES += rules.draw_movies.output


rule measure_baselines:
    """Oracle and Random Chance on the test split, in segments of each length and in whole movies."""
    input:
        rows=rules.list_movie_annotations.output.rows,
    output:
        metrics=f"{MOVIES}/{{movies}}/baselines.json",
    log:
        f"{MOVIE_LOGS}/measure_baselines/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(2000, minutes=120),
    params:
        code=code_of("extensions/longform/scripts/measure_baselines.py"),
        movies=movies_of("test_split"),
        grid=deciding(LONGFORM.grid),
        lengths=movie_jobs.lengths(settings),
        iou_cmp=movie_jobs.iou_cmp(settings, "baselines"),
        chance_runs=LONGFORM.chance_runs,
        seed=settings.seed,
    script:
        "scripts/measure_baselines.py"


rule rank_zero_shot:
    """The zero-shot baseline on the test split: mean-pooled proposals against the sentence, by cosine."""
    input:
        unpack(movie_jobs.feature_files(settings, "frames", "sentences")),
        rows=rules.list_movie_annotations.output.rows,
    output:
        metrics=f"{MOVIES}/{{movies}}/zero-shot/metrics.json",
        submission=f"{MOVIES}/{{movies}}/zero-shot/submission.jsonl",
    log:
        f"{MOVIE_LOGS}/rank_zero_shot/{{movies}}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(4000, minutes=720, disk_mb=2000),
    params:
        code=code_of("extensions/longform/scripts/rank_zero_shot.py"),
        movies=movies_of("test_split"),
        grid=deciding(LONGFORM.grid),
        lengths=movie_jobs.lengths(settings),
        iou_cmp=movie_jobs.iou_cmp(settings, "zero-shot"),
        nms_threshold=LONGFORM.nms_threshold,
        encoder=lambda wildcards: "" if SETS[wildcards.movies].source.features_supplied else LONGFORM.encoder,
    script:
        "scripts/rank_zero_shot.py"


rule train_vlg_net:
    """VLG-Net on windows of the training movies of one data set, or of a mixture (Table 5)."""
    input:
        partial(movie_jobs.training_files, settings),
    output:
        checkpoint=f"{MOVIES}/training/{{training}}/checkpoint.safetensors",
        record=f"{MOVIES}/training/{{training}}/log.jsonl",
    log:
        f"{MOVIE_LOGS}/train_vlg_net/{{training}}.log",
    retries: tries(2880)
    conda:
        "../../envs/models.yaml"
    threads: LONGFORM.vlg_net.threads
    resources:
        **needs(4000, minutes=2880, disk_mb=5000),
        gpu=LONGFORM.vlg_net.gpu,
    params:
        code=code_of("extensions/longform/scripts/train_vlg_net.py"),
        mixture=partial(movie_jobs.mixture_of, settings),
        grid=deciding(LONGFORM.grid),
        settings=deciding(LONGFORM.vlg_net),
        seed=settings.seed,
    script:
        "scripts/train_vlg_net.py"


rule rank_vlg_net:
    """A trained VLG-Net on the test split of a data set."""
    input:
        unpack(movie_jobs.feature_files(settings, "frames", "tokens")),
        rows=rules.list_movie_annotations.output.rows,
        checkpoint=rules.train_vlg_net.output.checkpoint,
    output:
        metrics=f"{MOVIES}/{{movies}}/vlg-net/{{training}}/metrics.json",
        submission=f"{MOVIES}/{{movies}}/vlg-net/{{training}}/submission.jsonl",
    log:
        f"{MOVIE_LOGS}/rank_vlg_net/{{movies}}/{{training}}.log",
    retries: tries(1440)
    conda:
        "../../envs/models.yaml"
    threads: LONGFORM.vlg_net.threads
    resources:
        **needs(4000, minutes=1440, disk_mb=5000),
        gpu=LONGFORM.vlg_net.gpu,
    params:
        code=code_of("extensions/longform/scripts/rank_vlg_net.py"),
        movies=movies_of("test_split"),
        grid=deciding(LONGFORM.grid),
        lengths=movie_jobs.lengths(settings),
        iou_cmp=movie_jobs.iou_cmp(settings, "vlg-net"),
        nms_threshold=LONGFORM.nms_threshold,
        search_batch=LONGFORM.vlg_net.search_batch,
        threads=LONGFORM.vlg_net.threads,
    script:
        "scripts/rank_vlg_net.py"


rule tabulate_movies:
    """The tables of the MAD paper for the configuration's data sets of movies, and the stage's own."""
    input:
        statistics=MOVIE_STATISTICS,
        results=movie_jobs.result_files(settings),
        counts=expand(rules.list_movie_annotations.output.counts, movies=SETS),
        collected=expand(rules.join_collection.output.rows, movies=movie_jobs.collected_sets(settings)),
        collections=expand(rules.check_collection.output.check, movies=movie_jobs.rendered_sets(settings)),
        published=PUBLISHED,
    output:
        tables=f"{MOVIES}/tables.json",
    log:
        f"{MOVIE_LOGS}/tabulate_movies.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("extensions/longform/scripts/tabulate.py"),
        layout=movie_jobs.table_layout(settings),
    script:
        "scripts/tabulate.py"


STAGE_TABLES += rules.tabulate_movies.output
