"""Check finished annotations and features of the user, and the steps of trainings, before a run."""

import os
from collections.abc import Iterator
from pathlib import Path

from verified.benchmark.vcmr.jobs import check_second_streams, possible_runs
from verified.benchmark.vcmr.registry import reads_second_stream
from verified.config import Config
from verified.config.folders import dataset_folder, datasets_with
from verified.config.retrieval import Training
from verified.config.sources.released import ReleasedSource
from verified.corpus.inventory import unprobed_rows
from verified.corpus.source_files import division_of
from verified.errors import InputError
from verified.features.files import describe_second, feature_problems
from verified.features.preflight import REMEDY
from verified.io.hdf5 import FeatureFile
from verified.released.collections import read_splits
from verified.stage import Finding, refused
from verified.tables.layout import runs

EXCESS = 3
"""Multiples of the authors' epochs beyond which a fixed number of steps is too many for a corpus."""


GIVEN = ("video", "text-cog", "text-fig")
"""Files of features that models read."""


def released_findings(settings: Config, *_: object) -> Iterator[Finding]:
    """Every problem of the annotations, once they are here, and features of each data set; files are read whole."""
    try:
        check_second_streams(settings)
    except InputError as error:
        yield refused("retrieval.models", error)
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
        table_runs = possible_runs(settings, name, runs(settings.retrieval.names))
        if not table_runs or not splits or source.features_dir is None:
            continue
        used = {spans.train_split, spans.selection_split, spans.test_split}
        rows = [row for split, rows in splits.items() if split in used for row in rows]
        captions = sorted({"cog" if name == "cog" else "fig" for run in table_runs for name in run[1:]})
        needed: dict[str, dict[str, float | None]] = {"video": {row["video"]: row["duration"] for row in rows}}
        readers = [run[0] for run in table_runs if reads_second_stream(run[0])]
        needed |= dict.fromkeys(["second"] if readers else [], needed["video"])
        needed |= {f"text-{each}": {str(row["desc_id"]): None for row in rows} for each in captions}
        key, sound = f"datasets.{name}.source.features_dir", True
        for file, keys in needed.items():
            path = Path(source.features_dir, f"{file}.h5")
            for problem in feature_problems(path, keys, None if file.startswith("text") else spans.clip_seconds):
                sound = False
                yield Finding("problem", key, f"{path}: {problem}", f"{REMEDY}, or set spans.clip_seconds")
        for other in sorted(Path(source.features_dir).glob("*.h5")):
            if other.stem not in (*GIVEN, *needed):
                remedy = "a second stream, such as subtitles, is second.h5, with second_stream: true in the source"
                yield Finding("note", key, f"{other}: no model reads it", remedy)
        if sound and readers:
            video, second = (FeatureFile(Path(source.features_dir, f"{file}.h5")) for file in ("video", "second"))
            try:
                describe_second(second, video.describe(needed["video"]), video.path)
            except InputError as error:
                sound = False
                yield refused(key, error)
        if sound:
            yield Finding("ok", key, f"{', '.join(needed)}: features of {len(needed['video'])} videos fit")
            clips = [round(duration / spans.clip_seconds) for duration in needed["video"].values() if duration]
            if long := sum(count > spans.max_context_clips for count in clips):
                message = f"{long} of {len(clips)} videos are longer than {spans.max_context_clips} clips, and are cut"
                remedy = f"set it to {max(clips)}, or moments behind are not found (ReLoCLNet pools instead)"
                yield Finding("note", f"datasets.{name}.spans.max_context_clips", message, remedy)


def training_findings(settings: Config) -> Iterator[Finding]:
    """A line for each data set with the steps of its trainings; a note for a model whose steps are far too many."""
    for name in datasets_with(settings, "annotated_here"):
        if not possible_runs(settings, name, runs(settings.retrieval.names)):
            continue
        try:
            moments = _training_moments(settings, name)
        except InputError:  # other checks report it
            continue
        if moments:
            yield from _findings_of(settings, name, moments)


def _training_moments(settings: Config, name: str) -> int:
    """Number of moments to train on; their share where the videos are yet to be divided."""
    dataset, division = settings.datasets[name], division_of(settings, name)
    rows = unprobed_rows(dataset.source, f"{dataset_folder(settings, name)}/corpus").usable
    if division:
        return round(division["train_share"] * len(rows))
    return sum(row["split"] == dataset.spans.train_split for row in rows)


def _findings_of(settings: Config, name: str, moments: int) -> Iterator[Finding]:
    from verified.benchmark.vcmr.experiment import own_recipe
    from verified.benchmark.vcmr.registry import model_class
    from verified.benchmark.vcmr.training import steps_of_epoch

    counted = []
    for model in settings.retrieval.names:
        recipe = own_recipe(model_class(model).recipe, settings.retrieval.training.get(model, Training()))
        epoch = steps_of_epoch(moments, recipe)
        steps = recipe.steps or recipe.epochs * epoch
        counted.append(f"{model} {steps:,}")
        if steps > EXCESS * recipe.epochs * epoch:
            message = f"{steps:,} steps are {steps // epoch:,} passes over {moments} training moments of {name}"
            remedy = f"set it to {recipe.epochs * epoch:,} or less, or leave {model} out of retrieval.models"
            yield Finding("note", f"retrieval.training.{model}.steps", message, remedy)
    message = f"steps of each training on {moments:,} moments of {name}: {', '.join(counted)}"
    yield Finding("ok", "retrieval.models", message)
