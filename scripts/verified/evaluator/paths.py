"""Which files the evaluator's rules read and write, by configuration."""

from collections.abc import Callable
from pathlib import Path

from verified.config import Config, outputs
from verified.config.evaluator import PRETRAINED
from verified.config.folders import dataset_folder, evaluator_folder, finetuning_datasets, home
from verified.demo.pretrained import shipped_backbone, shipped_evaluator
from verified.runtime.wildcards import key_of, shard_names


def starting_checkpoint(settings: Config) -> str:
    """The checkpoint of the start: a given one, the shipped one, UMT's, or one pre-trained in the run."""
    evaluator = settings.evaluator
    if evaluator.checkpoint == PRETRAINED:
        return shipped_evaluator()
    if not evaluator.checkpoint and evaluator.umt_file:
        return str(Path(evaluator.umt_file).with_suffix(".safetensors"))
    return evaluator.checkpoint or f"{evaluator_folder(settings)}/pretrained.safetensors"


def pretrains(settings: Config) -> bool:
    """Whether the checkpoint that fine-tuning starts from is pre-trained in the run."""
    return not settings.evaluator.checkpoint and not settings.evaluator.umt_file


def backbone_weights(settings: Config) -> str:
    """The image network that pre-training puts into the stem."""
    folder = shipped_backbone() if settings.evaluator.backbone else f"{home(settings)}/image-backbone"
    return f"{folder}/model.safetensors"


def tuple_files(settings: Config, kind: str) -> list[str]:
    """Files of one kind over all data sets and shards: moments, perturbations, clips or indices."""
    return [file for name in finetuning_datasets(settings) for file in _dataset_files(settings, name)[kind]]


def _dataset_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    folder, shards = dataset_folder(settings, dataset), shard_names(settings.shards)
    return {
        "moments": [outputs.moments(folder)],
        "perturbations": outputs.perturbations(folder, settings.shards),
        "clips": [f"{folder}/evaluator/clips/{shard}{clip_ending(settings)}" for shard in shards],
        "indices": [f"{folder}/evaluator/clips/{shard}.jsonl" for shard in shards],
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
            **_dataset_files(settings, name),
            "moments": outputs.moments(dataset_folder(settings, name)),
        }
        for name in finetuning_datasets(settings)
    ]


PRETRAINING_KEYS = {
    "size",
    "frames",
    "image_size",
    "threads",
    "backbone_frames",
    "backbone_batch",
    "backbone_learning_rate",
    "pretrain_clips",
    "pretrain_batch",
    "pretrain_learning_rate",
}
"""Keys of the section `evaluator` that decide the pre-training of size tiny."""


def gpu_model(settings: Config) -> str:
    """The model of GPU to ask a cluster for; empty for jobs without GPUs, which must not name one."""
    return settings.evaluator.gpu_model if settings.evaluator.gpus else ""


def truth_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Candidates and what is false in them, for a data set whose truth is known; empty for others."""
    if not settings.datasets[dataset].source.has_truth:
        return {}
    folder = dataset_folder(settings, dataset)
    return {
        "captions": outputs.candidates(folder, settings.shards),
        "corrupted": outputs.corrupted(folder, settings.shards),
    }


def validation_files(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: what the evaluator is graded by on a data set."""

    def graded_by(wildcards) -> dict[str, list[str]]:
        dataset = key_of(wildcards.dataset)
        described = _dataset_files(settings, dataset)
        clip_files = {kind: described[kind] for kind in ("perturbations", "clips", "indices")}
        return clip_files | truth_files(settings, dataset)

    return graded_by


def validations(settings: Config) -> list[str]:
    """What the evaluator was found to tell apart, of each data set that it is fine-tuned on."""
    return [f"{dataset_folder(settings, name)}/evaluator/validation.json" for name in finetuning_datasets(settings)]


def known_truths(settings: Config) -> dict[str, dict[str, list[str]]]:
    """`truth_files` of every data set that has them."""
    files_of = {name: truth_files(settings, name) for name in finetuning_datasets(settings)}
    return {name: truths for name, truths in files_of.items() if truths}


def all_files(nested: dict[str, dict[str, list[str]]]) -> list[str]:
    """Every file named in `known_truths`."""
    return [file for kinds in nested.values() for names in kinds.values() for file in names]
