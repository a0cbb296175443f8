"""Figure 7 of the MAD paper: genres and years of movies, from a file of the user's (MAD gives neither)."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.figures.canvas import SERIES, draw_note, drawing, literal
from verified.io.text_tables import read_csv

COLUMNS = ("movie", "year", "genres")
YEARS = range(1870, 2101)
"""Years of production that can be meant."""


def count_diversity(path: str | os.PathLike, movies: Iterable[str]) -> dict:
    """``genres`` {genre: movies with it}, ``decades`` {first year: movies}, their number ``movies`` and ``unknown``
    among them, of which the file has no row. Raises InputError with the row for what cannot be used."""
    rows = _read(Path(path))
    asked = sorted(set(movies))
    known = [rows[movie] for movie in asked if movie in rows]
    return {
        "movies": len(asked),
        "unknown": len(asked) - len(known),
        "genres": dict(Counter(genre for _, genres in known for genre in genres).most_common()),
        "decades": dict(sorted(Counter(year // 10 * 10 for year, _ in known if year is not None).items())),
    }


def _read(path: Path) -> dict[str, tuple[int | None, tuple[str, ...]]]:
    """Movie → (year or None, genres)."""
    rows: dict[str, tuple[int | None, tuple[str, ...]]] = {}
    for number, row in read_csv(path, COLUMNS):
        movie, year = row["movie"].strip(), row["year"].strip()
        if not movie or movie in rows:
            raise InputError(f"movie {movie!r} is empty or occurs twice", file=path, row=number)
        if year and (not year.isdecimal() or len(year) > 4 or int(year) not in YEARS):
            raise InputError(f"{year!r:.40} is no year", file=path, row=number, remedy="give four digits, or nothing")
        genres = (genre.strip() for genre in row["genres"].split(";"))
        rows[movie] = (int(year) if year else None, tuple(dict.fromkeys(filter(None, genres))))
    return rows


def draw_diversity(groups: Sequence[tuple[str, Mapping]], paths: Iterable[str | os.PathLike]) -> None:
    """Movies by genre and by decade, side by side for each data set; without one that has metadata, a line says so.

    groups: (title, `count_diversity`).
    """
    paths = list(paths)
    if not any(counts["genres"] or counts["decades"] for _, counts in groups):
        known = ", ".join(title for title, _ in groups)
        why = f"the metadata name neither for a movie of {known}" if known else "no data set names a file of metadata"
        draw_note(paths, f"Genres and years are not shown: {why} (longform.datasets.NAME.metadata).")
        return
    genres = Counter[str]()
    for _, counts in groups:
        genres.update(counts["genres"])
    decades = [year for _, counts in groups for year in counts["decades"]]
    kinds = {
        "genres": [genre for genre, _ in genres.most_common()],
        "decades": list(range(min(decades), max(decades) + 1, 10)) if decades else [],
    }
    with drawing(paths, 15.0, 6.6) as figure:
        entries = [
            (title, kind, name, counts[kind].get(name, 0))
            for title, counts in groups
            for kind, listed in kinds.items()
            for name in listed
        ]
        figure.describe("Movies by genre and by decade", ("data set", "by", "of", "movies"), entries)
        for axis, (kind, names) in zip(figure.subplots(1, 2), kinds.items()):
            width = 0.8 / len(groups)
            for number, (title, counts) in enumerate(groups):
                missing = f" ({counts['unknown']} of {counts['movies']} movies not in its file)"
                axis.bar(
                    np.arange(len(names)) + (number - (len(groups) - 1) / 2) * width,
                    [counts[kind].get(name, 0) for name in names],
                    width,
                    label=literal(title + (missing if counts["unknown"] else "")),
                    color=SERIES[number % len(SERIES)][0],
                )
            shown = [literal(str(name)) if kind == "genres" else f"{name}s" for name in names]
            axis.set_xticks(range(len(names)), shown, rotation=60)
        figure.axes[0].set_ylabel("movies")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center")
