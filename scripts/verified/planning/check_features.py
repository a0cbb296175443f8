"""Check finished annotations, and that feature files of the user fit their videos and captions."""

import os
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
from verified.stage import Finding, refused
from verified.tables.layout import runs


def released_findings(settings: Config, *_: object) -> Iterator[Finding]:
    """Every problem of the annotations, once they are here, and features of each data set; files are read whole."""
    for name in datasets_with(settings, "annotations_given"):
        source, spans = settings.datasets[name].source, settings.datasets[name].spans
        if not isinstance(source, ReleasedSource):
            continue
        try:
            splits = dict(read_splits(source)) if all(map(os.path.isfile, source.inputs())) else {}
        except InputError as error:
            yield refused(f"datasets.{name}.source", error)
            continue
        if splits:
            counts = ", ".join(f"{split} {len(rows)}" for split, rows in splits.items())
            yield Finding("ok", f"datasets.{name}.source", f"annotations of {counts}")
        wanted = possible_runs(settings, name, runs(settings.retrieval.names))
        if not wanted or not splits or source.features_dir is None:
            continue
        used = {spans.train_split, spans.selection_split, spans.test_split}
        rows = [row for split, rows in splits.items() if split in used for row in rows]
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
