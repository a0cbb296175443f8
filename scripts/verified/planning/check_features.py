"""Check that feature files of the user fit the videos and captions of their data set."""

from collections.abc import Iterator
from pathlib import Path

from verified.benchmark.vcmr.jobs import possible_runs
from verified.config import Config
from verified.config.folders import datasets_with
from verified.config.sources.released import ReleasedSource
from verified.errors import InputError
from verified.features.files import feature_problems
from verified.features.preflight import REMEDY
from verified.released.collections import read_splits
from verified.stage import Finding
from verified.tables.layout import runs


def feature_findings(settings: Config, *_: object) -> Iterator[Finding]:
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
