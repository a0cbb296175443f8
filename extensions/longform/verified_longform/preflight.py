"""Checks of data sets of movies before a run: missing files, movies and splits without sentences or features."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from verified.config import Config
from verified.config.features import PACKAGED, PACKAGED_JOINT, PACKAGED_KNOWS
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.features.preflight import file_findings
from verified.stage import Finding, Supplied, refused
from verified_longform.annotations import read_mad
from verified_longform.collection import unreadable
from verified_longform.config import DescribedSource, Longform, MadSource, has_computed_features
from verified_longform.jobs import (
    BLIND_EVALUATOR,
    folder,
    has_blind_encoder,
    published_files,
    trainings,
)
from verified_longform.manifest import read_manifest

TEXTS = 2000
"""Sentences of movies that are checked, at even distances."""
SHOWN = 5
"""Movies that one message names."""
TESTED = "which the tables report (longform.datasets.NAME.test_split)"
TRAINED = "on which vlg-net is trained (longform.datasets.NAME.train_split)"


def movie_findings(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    """Yield a line per data set of the user's own movies that exists; `stuck` holds keys with another problem.

    A run skips a movie with a missing file, so it stops only if it would skip every movie.
    """
    for name, movie_set in settings.section(Longform).datasets.items():
        key, source = f"longform.datasets.{name}.source", movie_set.source
        if isinstance(source, MadSource | DescribedSource) and not any(other.startswith(key) for other in stuck):
            try:
                movies, lacking = _movies(source, movie_set.times, transcribes=settings.generation.speech is not None)
            except InputError as error:
                yield Finding("problem", key, str(error))
                continue
            remedy = "put the files there, or correct them or their names"
            if lacking:
                problems = [f"{movie} ({lacks})" for movie, lacks in lacking.items()]
                more = f", and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
                message = (
                    f"{len(problems)} of {len(movies)} movies would be left out: {', '.join(problems[:SHOWN])}{more}"
                )
                yield Finding("problem" if len(problems) == len(movies) else "note", key, message, remedy)
            else:
                yield Finding("ok", key, f"{len(movies)} movies, each with files that can be read")
            remaining = set[str]().union(*(splits for movie, splits in movies.items() if movie not in lacking))
            if remaining and movie_set.test_split not in remaining:
                yield Finding(
                    "problem", key, f"no movie is left of the split {movie_set.test_split!r}, {TESTED}", remedy
                )
            if remaining and movie_set.train_split not in remaining and name in trainings(settings):
                yield Finding(
                    "problem", key, f"no movie is left of the split {movie_set.train_split!r}, {TRAINED}", remedy
                )


def _movies(
    source: MadSource | DescribedSource, times: Literal["ext_timestamps", "timestamps"], transcribes: bool
) -> tuple[dict[str, set[str]], dict[str, str]]:
    """Movies of a data set with their splits, and {movie: missing file}. Raises InputError for an unreadable file.

    transcribes: whether the role `speech` transcribes movies without a transcript.
    """
    movies: dict[str, set[str]] = {}
    lacking: dict[str, str] = {}
    if isinstance(source, DescribedSource):
        for row in read_manifest(source.manifest):
            movies[row["movie"]] = {row["split"]}
            if reason := unreadable(row, transcribes):
                lacking[row["movie"]] = reason
    else:
        for split, path in source.annotations.items():
            for row in read_mad(path, split, times):
                movies.setdefault(row["movie"], set()).add(split)
    if source.videos and getattr(source, "frames", None) is None:
        there = VideoFolder(Path(source.videos)).files
        for movie in movies:
            if movie not in there:
                lacking.setdefault(movie, f"no video in {source.videos}")
    return movies, lacking


def supplied(settings: Config) -> Iterator[Supplied]:
    """The inputs of data sets of movies and of VLG-Net."""
    for name, movie_set in settings.section(Longform).datasets.items():
        source, made = movie_set.source, f"{folder(settings)}/{name}/annotations.jsonl"
        named = {f"annotations.{split}": path for split, path in getattr(source, "annotations", {}).items()}
        named |= {key: getattr(source, key, None) for key in ("manifest", "frames", "tokens", "sentences")}
        for key, path in named.items():
            if path:
                yield Supplied(f"longform.datasets.{name}.source.{key}", path, False, made)
        if isinstance(source, MadSource | DescribedSource) and source.videos:
            yield Supplied(f"longform.datasets.{name}.source.videos", source.videos, True, made)
    start, trained = settings.section(Longform).vlg_net.warm_start, list(trainings(settings))
    if start and trained:
        made = f"{folder(settings)}/training/{trained[0]}/checkpoint.safetensors"
        yield Supplied("longform.vlg_net.warm_start", start, False, made)


def problems(settings: Config) -> Iterator[Finding]:
    """Published collections whose files cannot be had."""
    for collection in settings.section(Longform).published:
        try:
            published_files(settings, collection)
        except InputError as error:
            yield refused("longform.published", error, "take it out of the list")


def feature_findings(settings: Config) -> Iterator[Finding]:
    """Problems of movies in MAD's form: frames, tokens and sentences. A run skips moments without features."""
    for name, movie_set in settings.section(Longform).datasets.items():
        source, key = movie_set.source, f"longform.datasets.{name}.source"
        if not isinstance(source, MadSource):
            continue
        try:
            rows = [row for split, path in source.annotations.items() for row in read_mad(path, split, movie_set.times)]
        except InputError:  # another check reports it
            continue
        movies = {row["movie"]: row["duration"] for row in rows}
        texts = {row["id"]: None for row in rows[:: max(1, len(rows) // TEXTS)]}
        if source.frames:
            seconds = 1 / settings.section(Longform).grid.fps
            yield from file_findings(f"{key}.frames", source.frames, "movies", movies, seconds, "longform.grid.fps")
        if source.tokens:
            yield from file_findings(f"{key}.tokens", source.tokens, "annotations", texts)
        if source.sentences:
            yield from file_findings(f"{key}.sentences", source.sentences, "annotations", texts)


def encoder_findings(settings: Config) -> Iterator[Finding]:
    """Limits of the shipped encoders on movies of the user."""
    section, better = settings.section(Longform), "a CLIP or SigLIP model of the hub knows more"
    if has_computed_features(settings) and section.encoder in (PACKAGED, PACKAGED_JOINT):
        yield Finding("note", "longform.encoder", f"{section.encoder} {PACKAGED_KNOWS}", better)
    if blind := [key for key, movies in section.datasets.items() if has_blind_encoder(settings, movies)]:
        message = f"the evaluator sees the movies of {', '.join(blind)}: {BLIND_EVALUATOR}"
        yield Finding("note", "longform.encoder", message, f"set it to {PACKAGED_JOINT}; {better}")
