"""Files that the evaluator's jobs read, by configuration."""

from pathlib import Path

from verified.config import Config
from verified.config.evaluator import PRETRAINED
from verified.config.folders import finetuning_datasets
from verified.demo.pretrained import shipped_evaluator
from verified.layout import Layout

TUPLES = ("moments", "perturbations", "clips", "indices")
GRADED = ("perturbations", "clips", "indices", "captions", "corrupted")
"""Kinds of files that the evaluator is fine-tuned on, and graded by."""


def starting_checkpoint(settings: Config) -> str:
    """The checkpoint of the start: a given one, the shipped one, or UMT's."""
    evaluator = settings.evaluator
    if evaluator.checkpoint == PRETRAINED:
        return shipped_evaluator()
    return evaluator.checkpoint or str(Path(evaluator.umt_file or "").with_suffix(".safetensors"))


def tuple_files(settings: Config, *kinds: str) -> dict[str, list[str]]:
    """Files of these kinds over all data sets and shards; see `dataset_files`."""
    datasets = [dataset_files(settings, name) for name in finetuning_datasets(settings)]
    return {kind: [file for files in datasets for file in files.get(kind, ())] for kind in kinds}


def dataset_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Files of one data set: moments, perturbations, clips and indices; and where its truth is known, the `captions` of
    candidates and the false facts in them (`corrupted`)."""
    layout = Layout(settings)
    ending = clip_ending(settings)
    files = {
        "moments": [layout.path(layout.moments, dataset)],
        "perturbations": layout.shards(layout.perturbations, dataset),
        "clips": layout.shards(layout.clip_index.replace(".jsonl", ending), dataset),
        "indices": layout.shards(layout.clip_index, dataset),
    }
    if settings.datasets[dataset].source.has_truth:
        files |= {"captions": layout.candidates(dataset), "corrupted": layout.corrupted(dataset)}
    return files


def clip_ending(settings: Config) -> str:
    """Ending of the files that hold clips: raw frames or H.264 streams (see `evaluator.clips`)."""
    return ".npy" if settings.evaluator.clip_side is None else ".h264"


def described_datasets(settings: Config, *kinds: str) -> list[dict]:
    """Files of these kinds, data set by data set, as `read_tuples` and `grade` take them."""
    datasets = []
    for name in finetuning_datasets(settings):
        files = {kind: files for kind, files in dataset_files(settings, name).items() if kind in kinds}
        datasets.append({"name": name, "test_split": settings.datasets[name].spans.test_split, **files})
    return datasets


def validation_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Files that the evaluator is graded by on a data set."""
    return {kind: files for kind, files in dataset_files(settings, dataset).items() if kind in GRADED}
