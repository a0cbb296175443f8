"""Inputs of a configuration that no rule makes. Snakemake can name a missing one, but gives no remedy."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from verified.benchmark.mad.paths import folder as movies_folder
from verified.benchmark.mad.paths import trainings
from verified.benchmark.rextime.paths import folder as suite_folder
from verified.benchmark.rextime.paths import supplied_paths
from verified.config import Config, outputs
from verified.config.evaluator import PRETRAINED
from verified.config.folders import dataset_folder, datasets_with, evaluator_folder
from verified.config.longform import DescribedSource, MadSource
from verified.errors import InputError


class Supplied(NamedTuple):
    """The configuration's key, the path in it, and the first output that a rule makes from it."""

    key: str
    path: str
    is_folder: bool
    made: str


def list_supplied(settings: Config) -> Iterator[Supplied]:
    """All inputs of the user except published annotations: videos, moments, movies, ReXTime's files, weights."""
    for name in datasets_with(settings, "has_videos"):
        source, key = settings.datasets[name].source, f"datasets.{name}.source"
        made = outputs.moments(dataset_folder(settings, name))
        if source.given_videos is not None:
            yield Supplied(f"{key}.videos", source.given_videos, True, made)
        if source.given_moments is not None:
            yield Supplied(f"{key}.moments", source.given_moments, False, made)
    yield from supplied_movies(settings)
    items = f"{suite_folder(settings)}/items.jsonl"
    yield from (Supplied(*named, items) for named in supplied_paths(settings))
    evaluator, tuned = settings.evaluator, f"{evaluator_folder(settings)}/checkpoint.safetensors"
    if evaluator.checkpoint and evaluator.checkpoint != PRETRAINED:
        yield Supplied("evaluator.checkpoint", evaluator.checkpoint, False, tuned)
    elif evaluator.umt_file and not evaluator.umt_url and not evaluator.checkpoint:
        yield Supplied("evaluator.umt_file", evaluator.umt_file, False, tuned)


def supplied_movies(settings: Config) -> Iterator[Supplied]:
    """The inputs of data sets of movies and of VLG-Net."""
    for name, movie_set in settings.longform.datasets.items():
        source, made = movie_set.source, f"{movies_folder(settings)}/{name}/annotations.jsonl"
        named = {f"annotations.{split}": path for split, path in getattr(source, "annotations", {}).items()}
        named |= {key: getattr(source, key, None) for key in ("manifest", "frames", "tokens", "sentences")}
        for key, path in named.items():
            if path:
                yield Supplied(f"longform.datasets.{name}.source.{key}", path, False, made)
        if movie_set.metadata:
            figures = f"{movies_folder(settings)}/figures/diversity.svg"
            yield Supplied(f"longform.datasets.{name}.metadata", movie_set.metadata, False, figures)
        if isinstance(source, MadSource | DescribedSource) and source.videos:
            yield Supplied(f"longform.datasets.{name}.source.videos", source.videos, True, made)
    for split, path in settings.longform.lsmdc16.items():
        yield Supplied(f"longform.lsmdc16.{split}", path, False, f"{movies_folder(settings)}/tables.json")
    start, trained = settings.longform.vlg_net.warm_start, list(trainings(settings))
    if start and trained:
        made = f"{movies_folder(settings)}/training/{trained[0]}/checkpoint.safetensors"
        yield Supplied("longform.vlg_net.warm_start", start, False, made)


def check_supplied(settings: Config) -> None:
    """Raise InputError for the first missing input, unless the output made from it exists."""
    for key, path, is_folder, made in list_supplied(settings):
        if not Path(path).exists() and not Path(made).exists():
            kind = "folder" if is_folder else "file"
            raise InputError(f"{key}: no {kind} {path}", remedy="put it there, or name another")
