"""Which files the evaluator's rules read and write, by configuration."""

from collections.abc import Callable
from pathlib import Path

from verified.common.shards import shard_names
from verified.config import Config

SOURCES_WITH_VIDEOS = ("demo", "folder")


def evaluated_datasets(settings: Config) -> list[str]:
    """Data sets whose videos are at hand; released annotations come with their scores."""
    return [name for name, dataset in settings.datasets.items() if dataset.source.kind in SOURCES_WITH_VIDEOS]


def starting_checkpoint(settings: Config) -> str:
    """The checkpoint that fine-tuning starts from: a given one, UMT's converted, or the demo's own pre-training."""
    evaluator = settings.evaluator
    if not evaluator.checkpoint and evaluator.umt_file:
        return str(Path(evaluator.umt_file).with_suffix(".safetensors"))
    return evaluator.checkpoint or f"results/evaluator/{settings.evaluator.name}/pretrained.safetensors"


def tuple_files(settings: Config, kind: str) -> list[str]:
    """Files of one kind over all data sets and shards: moments, perturbations, clips or indices."""
    if kind == "moments":
        return [f"results/{name}/corpus/moments.jsonl" for name in evaluated_datasets(settings)]
    pattern = {
        "perturbations": "results/{}/perturbations/{}.jsonl",
        "clips": "results/{}/evaluator/clips/{}.npy",
        "indices": "results/{}/evaluator/clips/{}.jsonl",
    }[kind]
    return [
        pattern.format(name, shard) for name in evaluated_datasets(settings) for shard in shard_names(settings.shards)
    ]


def described_datasets(settings: Config) -> list[dict]:
    """The same files, data set by data set, as `read_tuples` takes them."""
    names, shards = evaluated_datasets(settings), settings.shards
    kinds = {kind: tuple_files(settings, kind) for kind in ("perturbations", "clips", "indices")}
    return [
        {
            "name": name,
            "moments": f"results/{name}/corpus/moments.jsonl",
            **{kind: files[place * shards : (place + 1) * shards] for kind, files in kinds.items()},
        }
        for place, name in enumerate(names)
    ]


def fine_tuning(settings: Config) -> dict:
    """The keys of the section `evaluator` that decide fine-tuning, as plain values."""
    keys = {
        "size", "frames", "image_size", "epochs", "warmup_epochs", "batch", "learning_rate", "splits",
        "hard_negatives", "matching_normaliser", "gpus", "confidence",
    }  # fmt: skip
    return settings.evaluator.model_dump(mode="json", include=keys)


def gpu_model(settings: Config) -> str:
    """The model of GPU to ask a cluster for; empty for jobs without GPUs, which must not name one."""
    return settings.evaluator.gpu_model if settings.evaluator.gpus else ""


def truth_files(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Candidates and what is false in them, for a data set whose truth is known; empty for others."""
    if settings.datasets[dataset].source.kind != "demo":
        return {}
    shards = shard_names(settings.shards)
    kinds = ("statics", "dynamics")
    return {
        "captions": [f"results/{dataset}/captions/{kind}/{shard}.jsonl" for kind in kinds for shard in shards],
        "spoiled": [f"results/{dataset}/captions/spoiled/{shard}.jsonl" for shard in shards],
    }


def validation_files(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: what the evaluator is graded by on a data set."""

    def files(wildcards) -> dict[str, list[str]]:
        own = next(entry for entry in described_datasets(settings) if entry["name"] == wildcards.dataset)
        chosen = {kind: own[kind] for kind in ("perturbations", "clips", "indices")}
        return chosen | truth_files(settings, wildcards.dataset)

    return files


def known_truths(settings: Config) -> dict[str, dict[str, list[str]]]:
    """`truth_files` of every data set that has them."""
    found = {name: truth_files(settings, name) for name in evaluated_datasets(settings)}
    return {name: files for name, files in found.items() if files}


def all_files(nested: dict[str, dict[str, list[str]]]) -> list[str]:
    """Every file named in `known_truths`."""
    return [file for files in nested.values() for names in files.values() for file in names]
