"""Files that the evaluator's jobs read, by configuration."""

from pathlib import Path

from verified.config import Config
from verified.config.evaluator import PRETRAINED
from verified.config.folders import finetuning_datasets
from verified.demo.pretrained import shipped_evaluator
from verified.layout import Layout


def starting_checkpoint(settings: Config) -> str:
    """The checkpoint of the start: a given one, the shipped one, or UMT's."""
    evaluator = settings.evaluator
    if evaluator.checkpoint == PRETRAINED:
        return shipped_evaluator()
    return evaluator.checkpoint or str(Path(evaluator.umt_file or "").with_suffix(".safetensors"))


def tuple_files(settings: Config, *kinds: str) -> dict[str, list[str]]:
    """Files of these kinds over all data sets and shards: moments, perturbations, clips or indices."""
    datasets = [dataset_files(settings, name) for name in finetuning_datasets(settings)]
    return {kind: [file for files in datasets for file in files[kind]] for kind in kinds}


def dataset_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """The same files of one data set."""
    layout = Layout(settings)
    ending = clip_ending(settings)
    return {
        "moments": [layout.path(layout.moments, dataset)],
        "perturbations": layout.shards(layout.perturbations, dataset),
        "clips": layout.shards(layout.clip_index.replace(".jsonl", ending), dataset),
        "indices": layout.shards(layout.clip_index, dataset),
    }


def clip_ending(settings: Config) -> str:
    """Ending of the files that hold clips: raw frames or H.264 streams (see `evaluator.clips`)."""
    return ".npy" if settings.evaluator.clip_side is None else ".h264"


def described_datasets(settings: Config) -> list[dict]:
    """The same files, data set by data set, as `read_tuples` takes them."""
    return [
        {
            "name": name,
            "test_split": settings.datasets[name].spans.test_split,
            **files,
            "moments": files["moments"][0],
        }
        for name in finetuning_datasets(settings)
        for files in (dataset_files(settings, name),)
    ]


def truth_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Candidates and their false facts, for a data set whose truth is known; empty for others."""
    if not settings.datasets[dataset].source.has_truth:
        return {}
    layout = Layout(settings)
    return {"captions": layout.candidates(dataset), "corrupted": layout.corrupted(dataset)}


def validation_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Files that the evaluator is graded by on a data set."""
    files = dataset_files(settings, dataset)
    return {kind: files[kind] for kind in ("perturbations", "clips", "indices")} | truth_files(settings, dataset)


def known_truths(settings: Config) -> dict[str, dict[str, list[str]]]:
    """`truth_files` of every data set that has them."""
    files_of = {name: truth_files(settings, name) for name in finetuning_datasets(settings)}
    return {name: truths for name, truths in files_of.items() if truths}
