"""Preflight checks of data sets of movies: movies and splits without sentences or features."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from verified.benchmark.mad.annotations import read_mad
from verified.benchmark.mad.collection import unreadable
from verified.benchmark.mad.manifest import read_manifest
from verified.benchmark.mad.paths import trainings
from verified.config import Config
from verified.config.longform import DescribedSource, MadSource
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.planning.findings import Finding

SHOWN = 5
"""Movies that one message names."""
TESTED = "which the tables report (longform.datasets.NAME.test_split)"
TRAINED = "on which vlg-net is trained (longform.datasets.NAME.train_split)"


def movie_findings(settings: Config, stuck: set[str]) -> Iterator[Finding]:
    """Yield a line per data set of the user's own movies that exists; `stuck` holds keys with another problem.

    A run skips a movie with a missing file, so it stops only if it would skip every movie.
    """
    for name, movie_set in settings.longform.datasets.items():
        key, source = f"longform.datasets.{name}.source", movie_set.source
        if isinstance(source, MadSource | DescribedSource) and not any(other.startswith(key) for other in stuck):
            try:
                movies, lacking = _movies(source, movie_set.times, heard=settings.generation.speech is not None)
            except InputError as error:
                yield Finding("problem", key, str(error))
                continue
            remedy = "put the files there, or correct them or their names"
            if lacking:
                said = [f"{movie} ({lacks})" for movie, lacks in lacking.items()]
                more = f", and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
                message = f"{len(said)} of {len(movies)} movies would be left out: {', '.join(said[:SHOWN])}{more}"
                yield Finding("problem" if len(said) == len(movies) else "note", key, message, remedy)
            else:
                yield Finding("ok", key, f"{len(movies)} movies, each with files that can be read")
            left = set[str]().union(*(splits for movie, splits in movies.items() if movie not in lacking))
            if left and movie_set.test_split not in left:
                yield Finding(
                    "problem", key, f"no movie is left of the split {movie_set.test_split!r}, {TESTED}", remedy
                )
            if left and movie_set.train_split not in left and name in trainings(settings):
                yield Finding(
                    "problem", key, f"no movie is left of the split {movie_set.train_split!r}, {TRAINED}", remedy
                )


def _movies(
    source: MadSource | DescribedSource, times: Literal["ext_timestamps", "timestamps"], heard: bool
) -> tuple[dict[str, set[str]], dict[str, str]]:
    """Movies of a data set with their splits, and {movie: missing file}. Raises InputError for an unreadable file.

    heard: whether the role `speech` transcribes movies without a transcript.
    """
    movies: dict[str, set[str]] = {}
    lacking: dict[str, str] = {}
    if isinstance(source, DescribedSource):
        for row in read_manifest(source.manifest):
            movies[row["movie"]] = {row["split"]}
            if reason := unreadable(row, heard):
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
