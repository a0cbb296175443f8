"""Data sets of movies before a run: which movies lack a file that would give them sentences or features."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from verified.benchmark.mad.annotations import read_mad
from verified.benchmark.mad.manifest import absent_files, read_manifest
from verified.config import Config
from verified.config.longform import DescribedSource, MadSource
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.planning.findings import Finding

SHOWN = 5
"""Movies that one line names."""


def movie_findings(settings: Config, stuck: set[str]) -> Iterator[Finding]:
    """A line per data set of the user's own movies that is there; `stuck`: keys with a problem of their own.

    A run leaves out a movie that lacks a file, so that it stops only where it would leave out all of them.
    """
    for name, movie_set in settings.longform.datasets.items():
        key, source = f"longform.datasets.{name}.source", movie_set.source
        if isinstance(source, MadSource | DescribedSource) and not any(other.startswith(key) for other in stuck):
            try:
                movies, lacking = _movies(source, movie_set.times)
            except InputError as error:
                yield Finding("problem", key, str(error))
                continue
            if not lacking:
                yield Finding("ok", key, f"{len(movies)} movies, each with its files")
                continue
            said = [f"{movie} ({lacks})" for movie, lacks in lacking.items()]
            more = f", and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
            message = f"{len(said)} of {len(movies)} movies would be left out: {', '.join(said[:SHOWN])}{more}"
            level = "problem" if len(said) == len(movies) else "note"
            yield Finding(level, key, message, "put the files there, or correct their names")


def _movies(
    source: MadSource | DescribedSource, times: Literal["ext_timestamps", "timestamps"]
) -> tuple[list[str], dict[str, str]]:
    """Movies of a data set, and {movie: what it lacks}. Raises InputError where its files cannot be read."""
    lacking: dict[str, str] = {}
    if isinstance(source, DescribedSource):
        rows = read_manifest(source.manifest)
        movies = [row["movie"] for row in rows]
        for row in rows:
            if absent := absent_files(row):
                lacking[row["movie"]] = f"no file {absent[0]}"
    else:
        read = [row for split, path in source.annotations.items() for row in read_mad(path, split, times)]
        movies = list(dict.fromkeys(row["movie"] for row in read))
    if source.videos and getattr(source, "frames", None) is None:
        there = VideoFolder(Path(source.videos)).files
        for movie in movies:
            if movie not in there:
                lacking.setdefault(movie, f"no video in {source.videos}")
    return movies, lacking
