"""Files and settings of the jobs of data sets of movies, by configuration."""

from collections.abc import Callable
from typing import Any

from verified.benchmark.tiou import Comparison
from verified.config import Config
from verified.config.features import PACKAGED_JOINT, PACKAGED_KNOWS
from verified.config.folders import home
from verified.config.sources import ReleasedSource
from verified.corpus.shards import videos_state
from verified.evaluator.jobs import starting_checkpoint
from verified.runtime.resources import ancient
from verified.weights.wanted import model_records
from verified_longform.config import EVALUATOR, DescribedSource, Longform, MadSource, MovieSet
from verified_longform.manifest import ALL, find_row, movie_files, read_manifest, row_name

KINDS = ("frames", "tokens", "sentences")


def folder(settings: Config) -> str:
    """Folder of everything that the stage writes."""
    return f"{home(settings)}/longform"


def rendered_sets(settings: Config) -> list[str]:
    """Data sets of movies that a rule renders."""
    return [name for name, movies in settings.section(Longform).datasets.items() if movies.source.rendered]


def collected_sets(settings: Config) -> list[str]:
    """Data sets of movies with rows that are collected from described tracks."""
    return [name for name, movies in settings.section(Longform).datasets.items() if movies.source.collected]


def collection_parts(settings: Config, name: str) -> list[str]:
    """Parts in which a data set is collected: a movie each, named by its row of the manifest, so that another row
    above does not collect it again; or `ALL` where a rule makes the manifest. Raises InputError as `read_manifest`."""
    source = settings.section(Longform).datasets[name].source
    return [row_name(row) for row in read_manifest(source.manifest)] if isinstance(source, DescribedSource) else [ALL]


def part_inputs(settings: Config, wildcards) -> dict[str, Any]:
    """The manifest, and the existing files of the movies of ``wildcards.part``."""
    source = settings.section(Longform).datasets[wildcards.movies].source
    if not isinstance(source, DescribedSource):
        return {"manifest": f"{folder(settings)}/{wildcards.movies}/source"}
    row = find_row(source.manifest, wildcards.part)
    return {"manifest": ancient(source.manifest), "files": [str(path) for path in movie_files(row)]}


def annotation_inputs(settings: Config, wildcards) -> dict[str, str | list[str]]:
    """The files behind rows of ``wildcards.movies``, by their content, and supplied features."""
    source = settings.section(Longform).datasets[wildcards.movies].source
    movies_folder = f"{folder(settings)}/{wildcards.movies}"
    if isinstance(source, MadSource):
        features = {kind: getattr(source, kind) for kind in KINDS if getattr(source, kind)}
        return {"annotations": [*source.annotations.values()], **features}
    extra = {"rendered": f"{movies_folder}/source"} if source.rendered else {}
    return {"collected": f"{movies_folder}/collected", **extra}


def video_inputs(settings: Config, wildcards) -> dict[str, Any]:
    """The folder of the movies of ``wildcards.movies``; not its timestamp but `movies_state` shows changes."""
    movies_folder = _given_movies(settings, wildcards)
    return {"folder": ancient(movies_folder) if movies_folder else f"{folder(settings)}/{wildcards.movies}/source"}


def movies_state(settings: Config, wildcards) -> str | None:
    """A digest of the given movies of ``wildcards.shard``; None for rendered ones."""
    movies_folder = _given_movies(settings, wildcards)
    return videos_state(movies_folder, wildcards.shard, settings.shards) if movies_folder else None


def _given_movies(settings: Config, wildcards) -> str | None:
    source = settings.section(Longform).datasets[wildcards.movies].source
    return source.videos if isinstance(source, MadSource | DescribedSource) else None


def encoder_inputs(settings: Config) -> dict[str, str | list[str]]:
    """The joint encoder's weights: the evaluator's checkpoint, or the record of a fetched model."""
    if settings.section(Longform).encoder == EVALUATOR:
        from verified.config.folders import evaluator_folder, finetuning_datasets

        tuned = f"{evaluator_folder(settings)}/checkpoint.safetensors"
        return {"checkpoint": tuned if finetuning_datasets(settings) else starting_checkpoint(settings)}
    return {
        "weights": model_records(
            settings, settings.section(Longform).encoder, settings.section(Longform).encoder_revision
        )
    }


def feature_file(settings: Config, name: str, kind: str) -> str:
    """The HDF5 file of one kind of features, supplied with the source or computed."""
    supplied = getattr(settings.section(Longform).datasets[name].source, kind, None)
    return supplied or f"{folder(settings)}/{name}/features/{kind}.h5"


def feature_files(settings: Config, *kinds: str) -> Callable[[Any], dict[str, str]]:
    """An input function: the files of `kinds` for ``wildcards.movies``."""
    return lambda wildcards: {kind: feature_file(settings, wildcards.movies, kind) for kind in kinds}


def trainings(settings: Config) -> dict[str, dict[str, float]]:
    """Every training of VLG-Net by its name: {data set: share of its training rows}."""
    if "vlg-net" not in settings.section(Longform).models:
        return {}
    shares = {name: {name: 1.0} for name in settings.section(Longform).datasets}
    for mixture in settings.section(Longform).mixtures:
        shares[mixture_name(mixture)] = dict(mixture)
    return shares


def mixture_name(mixture: dict[str, float]) -> str:
    """``lsmdc-g`` or ``lsmdc-g+mad-32`` for the whole of one data set and 32 % of another."""
    return "+".join(name if share == 1 else f"{name}-{round(100 * share)}" for name, share in sorted(mixture.items()))


def mixture_of(settings: Config, wildcards) -> dict[str, dict[str, Any]]:
    """Data set → share, split and files of ``wildcards.training``."""
    return {
        name: {
            "share": share,
            "split": settings.section(Longform).datasets[name].train_split,
            "rows": f"{folder(settings)}/{name}/annotations.jsonl",
            "frames": feature_file(settings, name, "frames"),
            "tokens": feature_file(settings, name, "tokens"),
        }
        for name, share in trainings(settings)[wildcards.training].items()
    }


def training_files(settings: Config, wildcards) -> list[str]:
    """Rows and features of each data set in ``wildcards.training``, and the checkpoint that GCNeXt starts from."""
    start, parts = settings.section(Longform).vlg_net.warm_start, mixture_of(settings, wildcards).values()
    return ([start] if start else []) + [part[kind] for part in parts for kind in ("rows", "frames", "tokens")]


def lengths(settings: Config) -> list[float | None]:
    """Lengths of the segments for testing movies, in seconds, ascending; None, the whole movie, last."""
    section = settings.section(Longform)
    return [*sorted({section.short_seconds, *section.window_seconds}), None]


def iou_cmp(settings: Config, model: str) -> Comparison:
    """``gt`` or ``ge`` for one method."""
    setting = settings.section(Longform).iou_cmp
    return setting if setting != "published" else "ge" if model == "vlg-net" else "gt"


def result_files(settings: Config) -> list[str]:
    """Measures of every method on every data set of movies, mixtures included."""
    stage = folder(settings)
    files = []
    for name in settings.section(Longform).datasets:
        files.append(f"{stage}/{name}/baselines.json")
        if "zero-shot" in settings.section(Longform).models:
            files.append(f"{stage}/{name}/zero-shot/metrics.json")
        if "vlg-net" in settings.section(Longform).models:
            files.append(f"{stage}/{name}/vlg-net/{name}/metrics.json")
    if trainings(settings):
        tested = settings.section(Longform).mixture_test
        files += [
            f"{stage}/{tested}/vlg-net/{mixture_name(mixture)}/metrics.json"
            for mixture in settings.section(Longform).mixtures
        ]
    return list(dict.fromkeys(files))


def encoder_note(settings: Config, movies: MovieSet) -> str:
    """The encoder behind a data set's figures, with a warning if it was trained on other kinds of images."""
    section, start = settings.section(Longform), settings.evaluator.imported
    if movies.source.features_supplied:
        return "frames and sentences as supplied in files, by the encoder that made them"
    if section.encoder == PACKAGED_JOINT:
        return f"frames and sentences by {PACKAGED_JOINT}, which {PACKAGED_KNOWS}"
    if section.encoder != EVALUATOR:
        return f"frames and sentences by {section.encoder}"
    note = f"frames and sentences by this configuration's evaluator, begun from {start or 'the rendered world alone'}"
    return f"{note}: {BLIND_EVALUATOR}" if has_blind_encoder(settings, movies) else note


BLIND_EVALUATOR = "it has seen no real video, and what rests on it is close to random"


def has_blind_encoder(settings: Config, movies: MovieSet) -> bool:
    """Whether an evaluator that has seen no real video computes the features of movies that are real."""
    source = movies.source
    computed = not source.features_supplied and settings.section(Longform).encoder == EVALUATOR
    return computed and not source.rendered and not settings.evaluator.imported


PUBLISHED = {
    "charades-sta": "Charades-STA",
    "activitynet-captions": "ANet-Captions",
    "didemo": "DiDeMo",
}
"""Published data sets of Table 1 by collection, as the table calls them."""


def published_source(collection: str, folder: str | None) -> ReleasedSource:
    """All splits of a published collection, in `folder` or by download."""
    from verified.released.files import collections

    splits = tuple(collections()[collection])
    return ReleasedSource(kind="released", collection=collection, splits=splits, released_dir=folder)


def published_files(settings: Config, collection: str) -> list[str]:
    """Paths of the available files of a published collection."""
    from verified.released.collections import resolve

    return resolve(published_source(collection, settings.section(Longform).published_dir)).inputs


def table_layout(settings: Config) -> dict:
    """Layout settings of the tables, as plain values."""
    section = settings.section(Longform)
    return {
        "name": settings.name,
        "seed": settings.seed,
        "sets": {
            name: {
                "title": movies.title,
                "comparable": movies.source.comparable,
                "test_split": movies.test_split,
                "encoder": encoder_note(settings, movies),
            }
            for name, movies in settings.section(Longform).datasets.items()
        },
        "mixtures": {mixture_name(mixture): mixture for mixture in section.mixtures},
        "mixture_test": section.mixture_test,
        "short_seconds": section.short_seconds,
        "tail": section.grid.tail,
        "gather": section.vlg_net.gather,
    }
