"""Which files the evaluator's rules read and write, by configuration."""

from collections.abc import Callable
from pathlib import Path

from verified.common.folders import key_of
from verified.common.shards import shard_names
from verified.config import Config
from verified.config.evaluator import STAND_IN
from verified.config.folders import dataset_folder, evaluator_folder, home, taught_by
from verified.stand_ins.paths import shipped_backbone, shipped_evaluator


def starting_checkpoint(settings: Config) -> str:
    """The checkpoint that fine-tuning starts from: a given one, the stand-in, UMT's, or one pre-trained in the run."""
    evaluator = settings.evaluator
    if evaluator.checkpoint == STAND_IN:
        return shipped_evaluator()
    if not evaluator.checkpoint and evaluator.umt_file:
        return str(Path(evaluator.umt_file).with_suffix(".safetensors"))
    return evaluator.checkpoint or f"{evaluator_folder(settings)}/pretrained.safetensors"


def backbone_weights(settings: Config) -> str:
    """The image network that pre-training puts into the stem."""
    folder = shipped_backbone() if settings.evaluator.backbone else f"{home(settings)}/image-backbone"
    return f"{folder}/model.safetensors"


def tuple_files(settings: Config, kind: str) -> list[str]:
    """Files of one kind over all data sets and shards: moments, perturbations, clips or indices."""
    folders = [dataset_folder(settings, name) for name in taught_by(settings)]
    if kind == "moments":
        return [f"{folder}/corpus/moments.jsonl" for folder in folders]
    pattern = {
        "perturbations": "{}/perturbations/{}.jsonl",
        "clips": f"{{}}/evaluator/clips/{{}}{clip_ending(settings)}",
        "indices": "{}/evaluator/clips/{}.jsonl",
    }[kind]
    return [pattern.format(folder, shard) for folder in folders for shard in shard_names(settings.shards)]


def clip_ending(settings: Config) -> str:
    """Ending of the files that hold clips: raw frames or H.264 streams (see `evaluator.clips`)."""
    return ".npy" if settings.evaluator.clip_side is None else ".h264"


def described_datasets(settings: Config) -> list[dict]:
    """The same files, data set by data set, as `read_tuples` takes them."""
    names, shards = taught_by(settings), settings.shards
    kinds = {kind: tuple_files(settings, kind) for kind in ("perturbations", "clips", "indices")}
    return [
        {
            "name": name,
            "test_split": settings.datasets[name].spans.test_split,
            "moments": f"{dataset_folder(settings, name)}/corpus/moments.jsonl",
            **{kind: files[number * shards : (number + 1) * shards] for kind, files in kinds.items()},
        }
        for number, name in enumerate(names)
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


def fine_tuning(settings: Config, **changes: object) -> dict:
    """The keys of the section `evaluator` that decide fine-tuning, as plain values, with `changes`."""
    keys = {
        "size",
        "frames",
        "image_size",
        "epochs",
        "warmup_epochs",
        "batch",
        "learning_rate",
        "splits",
        "hard_negatives",
        "matching_normaliser",
        "gpus",
        "confidence",
        "crop_share",
        "precision",
    }
    values = settings.evaluator.model_dump(mode="json", include=keys)
    return values | {"processes": settings.evaluator.processes} | changes


def gpu_model(settings: Config) -> str:
    """The model of GPU to ask a cluster for; empty for jobs without GPUs, which must not name one."""
    return settings.evaluator.gpu_model if settings.evaluator.gpus else ""


def truth_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Candidates and what is false in them, for a data set whose truth is known; empty for others."""
    if not settings.datasets[dataset].source.has_truth:
        return {}
    folder, shards = dataset_folder(settings, dataset), shard_names(settings.shards)
    kinds = ("statics", "dynamics")
    return {
        "captions": [f"{folder}/captions/{kind}/{shard}.jsonl" for kind in kinds for shard in shards],
        "spoiled": [f"{folder}/captions/spoiled/{shard}.jsonl" for shard in shards],
    }


def validation_files(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: what the evaluator is graded by on a data set."""

    def files(wildcards) -> dict[str, list[str]]:
        dataset = key_of(wildcards.dataset)
        described = next(entry for entry in described_datasets(settings) if entry["name"] == dataset)
        clip_files = {kind: described[kind] for kind in ("perturbations", "clips", "indices")}
        return clip_files | truth_files(settings, dataset)

    return files


def known_truths(settings: Config) -> dict[str, dict[str, list[str]]]:
    """`truth_files` of every data set that has them."""
    files_of = {name: truth_files(settings, name) for name in taught_by(settings)}
    return {name: files for name, files in files_of.items() if files}


def all_files(nested: dict[str, dict[str, list[str]]]) -> list[str]:
    """Every file named in `known_truths`."""
    return [file for files in nested.values() for names in files.values() for file in names]
