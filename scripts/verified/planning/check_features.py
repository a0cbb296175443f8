"""Check that feature files of the user fit the videos and captions of their data set."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from verified.benchmark.submissions import list_some
from verified.benchmark.vcmr.jobs import possible_runs
from verified.config import Config
from verified.config.folders import datasets_with
from verified.config.sources.released import ReleasedSource
from verified.errors import InputError
from verified.features.files import feature_problems
from verified.released.collections import read_splits
from verified.stage import Finding
from verified.tables.layout import runs

ROWS = 1000
"""Items of a movie whose values are read: a file of MAD's frames is larger than memory."""
REMEDY = "make the features anew, one HDF5 data set [items, dim] per id"


def feature_findings(settings: Config) -> Iterator[Finding]:
    """Every problem of the files of each data set with `features_dir`; files are read whole."""
    for name in datasets_with(settings, "given_features"):
        source, spans = settings.datasets[name].source, settings.datasets[name].spans
        wanted = possible_runs(settings, name, runs(settings.retrieval.models))
        if not wanted or not isinstance(source, ReleasedSource) or source.features_dir is None:
            continue
        try:
            splits = {spans.train_split, spans.selection_split, spans.test_split}
            rows = [row for split, found in read_splits(source) if split in splits for row in found]
        except InputError:  # another check reports the annotations
            continue
        captions = sorted({"cog" if name == "cog" else "fig" for run in wanted for name in run[1:]})
        needed: dict[str, dict[str, float | None]] = {"video": {row["video"]: row["duration"] for row in rows}}
        needed |= {f"text-{each}": {str(row["desc_id"]): None for row in rows} for each in captions}
        key, sound = f"datasets.{name}.source.features_dir", True
        for file, keys in needed.items():
            path = Path(source.features_dir, f"{file}.h5")
            for problem in feature_problems(path, keys, spans.clip_seconds if file == "video" else None):
                sound = False
                yield Finding("problem", key, f"{path}: {problem}", f"{REMEDY}, or set spans.clip_seconds")
        if sound:
            yield Finding("ok", key, f"{', '.join(needed)}: features of {len(needed['video'])} videos fit")


def file_findings(
    key: str,
    path: str,
    items: str,
    wanted: Mapping[str, float | None],
    clip_seconds: float | None = None,
    rate: str | None = None,
) -> Iterator[Finding]:
    """Problems of one file; `items` is the noun for its ids, `rate` the key with its rate."""
    if not Path(path).is_file():  # another check reports it
        return
    missing: list[str] = []
    problems = [*feature_problems(path, wanted, clip_seconds, ROWS, missing, vectors=items == "annotations")]
    remedy = f"{REMEDY}, or set {rate}" if rate else REMEDY
    yield from (Finding("problem", key, f"{path}: {problem}", remedy) for problem in problems)
    if missing:
        level = "problem" if len(missing) == len(wanted) else "note"
        message = f"{path}: no features of {len(missing)} of {len(wanted)} {items}: {list_some(missing)}"
        yield Finding(level, key, message, "data sets are named by id; what has none is left out")
    elif not problems:
        yield Finding("ok", key, f"{path}: features of {len(wanted)} {items} fit")
