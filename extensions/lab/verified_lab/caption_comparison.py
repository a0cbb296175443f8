"""Compare two runs of the chain on the same moments, by their captions and by retrieval."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import compare_paired
from verified.benchmark.vcmr.results import PER_QUERY_FILE, PerQuery, read_per_query
from verified.config.model import Statistics
from verified.errors import InputError
from verified.io.fig import read_splits
from verified.statistics.clustering import dbscan
from verified.tables.layout import TITLES
from verified.tables.table import Estimate, Table, Value, p_or_why

RECALLS = ("VR/r1", "VCMR/0.5/r1", "SVMR/0.5/r1")
COARSE, FINE = "cog", "fig"
Place = tuple[str, float, float, str]
"""Identity of a moment across runs: video, start and end to a hundredth of a second, and coarse caption."""
DIGITS = (0, 0, 2, 2, 2, 3, 0, 0)
"""Decimal places of the table's columns."""
NOTE = "In brackets: 95 % interval over videos, drawn with all of their moments, of retrieval over trainings as well."


@dataclass(frozen=True)
class Release:
    """The chosen captions of one run: `kind` is the folder of its annotations; `rows` maps places to rows."""

    root: Path
    kind: str
    rows: Mapping[Place, dict]


@dataclass(frozen=True)
class Shared:
    """The moments that two releases share: rows of the first and of the second, in one order."""

    first: list[dict]
    second: list[dict]
    videos: list[str]
    left_out: int
    """Moments that one of the releases lacks."""


def comparison_table(rows: Sequence[tuple[Value, ...]], names: tuple[str, str], left_out: int) -> Table:
    """Table `captions-compared`."""
    header = ("Measure", "n", *names, f"{names[0]} minus {names[1]}", "p", "Higher", "Lower")
    notes = (NOTE, f"{left_out} moments that one of the two lacks are left out.")
    return Table("captions-compared", "captions of two runs side by side", header, rows, notes, DIGITS)


def _row(
    measure: str,
    first: np.ndarray,
    second: np.ndarray,
    videos: Sequence[str] | np.ndarray,
    bounds: tuple[float, float],
    trained: bool = False,
) -> tuple[Value, ...]:
    """The row of a measure of both within `bounds`, values [n], or [trainings, n] if `trained`."""
    least, top = bounds
    x, y = (values if values.ndim == 2 else values[None] for values in (first, second))
    test = compare_paired(x - least, y - least, videos, top - least, (trained, trained))
    gap = test.value if np.isnan(test.low) else Estimate(test.value, test.low, test.high, test.trainings)
    return measure, x.shape[1], test.first + least, test.second + least, gap, p_or_why(test.p), test.wins, test.losses


def read_release(path: Path, splits: Sequence[str] = ()) -> Release:
    """Read the captions of a run, from its folder (then fig) or from that of its annotations, of some splits or of all.

    Of identical moments the first is used. Raises InputError without captions.
    """
    folder = path / "annotations" / FINE if (path / "annotations").is_dir() else path
    files = sorted(file for file in folder.glob("*.jsonl") if not splits or file.stem in splits)
    if not files:
        raise InputError(
            "holds no annotations of these splits", file=folder, remedy="name a run, or its annotations/fig"
        )
    rows: dict[Place, dict] = {}
    for row in read_splits(files):
        if "fig_desc" not in row:
            raise InputError(f"moment {row['desc_id']} has no fine caption", file=folder, remedy="name annotations/fig")
        start, end = (round(float(second), 2) for second in row["time"])
        rows.setdefault((row["video"], start, end, row["cog_desc"]), row)
    return Release(folder.parent.parent, folder.name, rows)


def shared(first: Release, second: Release) -> Shared:
    """The moments of both releases, in the order of the first. Raises InputError if there is none."""
    places = [place for place in first.rows if place in second.rows]
    if not places:
        raise InputError(
            f"{first.root} and {second.root} have no moment in common", remedy="compare runs on the same videos"
        )
    both = len(first.rows) + len(second.rows) - 2 * len(places)
    return Shared(
        [first.rows[place] for place in places],
        [second.rows[place] for place in places],
        [place[0] for place in places],
        both,
    )


def compare_texts(
    moments: Shared, encode: Callable[[list[str]], np.ndarray], settings: Statistics
) -> Iterator[tuple[Value, ...]]:
    """Compare words, and captions that cannot distinguish moments. `encode`: vectors [texts, dim] of captions."""
    sides = [[row["fig_desc"] for row in rows] for rows in (moments.first, moments.second)]
    x, y = (np.array([float(len(caption.split())) for caption in captions]) for captions in sides)
    yield _row("words", x, y, moments.videos, (0.0, max(1.0, x.max(), y.max())))
    x, y = (100.0 * (dbscan(encode(captions), settings.distance, settings.min_samples) >= 0) for captions in sides)
    yield _row("many-to-many %", x, y, moments.videos, (0.0, 100.0))


def compare_retrieval(first: Release, second: Release, moments: Shared) -> Iterator[tuple[Value, ...]]:
    """Compare the recall of each model that both runs trained on their captions, and its gain over training on coarse
    ones."""
    models = sorted(_models(first) & _models(second))
    for model in models:
        fine = [_tested(release, model, release.kind) for release in (first, second)]
        coarse = [_tested(release, model, COARSE) for release in (first, second)]
        if fine[0] is None or fine[1] is None:
            continue
        places = _places(fine[0], moments.first), _places(fine[1], moments.second)
        both = [number for number in places[0] if number in places[1]]
        if not both:
            continue
        videos = [moments.videos[number] for number in both]
        at = [[place[number] for number in both] for place in places]
        for name in RECALLS:
            if name not in fine[0].values or name not in fine[1].values:
                continue
            title = f"{TITLES.get(model, model)} {name.replace('/', ' ', 1)}"
            x, y = (100 * run.values[name][:, rows] for run, rows in zip((fine[0], fine[1]), at))
            yield _row(title, x, y, videos, (0, 100), trained=True)
            if coarse[0] is not None and coarse[1] is not None:
                gains = [
                    _gain(trained, 100 * run.values[name][:, rows], first.root == second.root)
                    for trained, run, rows in zip((x, y), (coarse[0], coarse[1]), at)
                ]
                yield _row(f"{title}, gain over coarse", gains[0], gains[1], videos, (-100, 100), trained=True)


def _gain(fine: np.ndarray, coarse: np.ndarray, same: bool) -> np.ndarray:
    """[trainings, n] gain over coarse trainings, whose noise counts unless both sides use the `same` ones."""
    if same:
        return fine - coarse.mean(axis=0)
    count = min(len(fine), len(coarse))
    return fine[:count] - coarse[:count]


def _models(release: Release) -> set[str]:
    return {path.parts[-5] for path in release.root.glob(f"retrieval/*/{release.kind}/seed-*/*/{PER_QUERY_FILE}")}


def _tested(release: Release, model: str, trained_on: str) -> PerQuery | None:
    """All trainings of a model, tested on the release's captions, or on fine ones; None if there is none."""
    for tested_on in dict.fromkeys((release.kind, FINE)):
        folders = sorted(release.root.glob(f"retrieval/{model}/{trained_on}/seed-*/{tested_on}/{PER_QUERY_FILE}"))
        if folders:
            return read_per_query([folder.parent for folder in folders])
    return None


def _places(run: PerQuery, rows: Sequence[dict]) -> dict[int, int]:
    """Map places among the moments to places among the queries."""
    of_query = {int(number): place for place, number in enumerate(run.desc_id)}
    return {number: of_query[row["desc_id"]] for number, row in enumerate(rows) if row["desc_id"] in of_query}
