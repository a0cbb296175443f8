"""Estimate a run's moments, training tuples, downloads and disk, with the assumptions behind each figure."""

from dataclasses import dataclass
from pathlib import Path

from verified.config import Config
from verified.config.folders import dataset_folder
from verified.config.generation import ROLES
from verified.config.sources import PublishedSource
from verified.errors import InputError
from verified.io.moments_file import read_moments_file
from verified.planning.placeholders import published_moments
from verified.planning.stages import wanted_models
from verified.released.files import collections
from verified.weights.lock import read_lock

FINE = {"charades-sta": "charades-fig", "didemo": "didemo-fig", "activitynet-captions": "activitynet-fig"}
"""The released collection with the number of captions of a published split whose own file is not public."""
PUBLISHED_GB = {
    "mistralai/Mistral-7B-Instruct-v0.2": 14.5,
    "llava-hf/llava-v1.6-mistral-7b-hf": 15.1,
    "Qwen/Qwen2.5-VL-7B-Instruct": 16.6,
    "microsoft/resnet-152": 0.2,
    "roberta-base": 0.5,
}
"""Parameters times two bytes (the last two: four); for models without an entry in the lock file."""
UMT_GB = 3.9
"""660 million parameters and the teacher's 304 million in float32: an estimate, without the published file."""
CONVERTED_GB = 2.6
"""The same without the teacher."""
CODED_KB_A_FRAME = 4.6
"""For a stream with a shorter side of 256 pixels, measured on two real clips (see evaluator.clips)."""
FEATURE_KB_A_MOMENT = 171.0
"""The paper's 22.1 GB by its 129,189 moments: video 9.3 (2048 half floats a second), text 12.8 (768 a word of three
captions)."""
KEYFRAME_KB = 40.0
"""A JPEG in the video's own size: an assumption."""
LEDGER_KB_A_CALL = 3.0
"""A prompt, its answer and their key."""
CALLS_A_MOMENT = 7
"""Plus one for each keyframe, if no two moments share a caption."""
ENVIRONMENTS_GB = 45.0
"""Conda environments of the GPU jobs: vLLM's and five with torch and CUDA."""
STATE_GB = {"L/16": 10.6}
"""Weights and the optimiser's state of the evaluator; training keeps one copy."""


@dataclass
class Needs:
    """moments: data set → number; the rest in GB, `downloads` by item; `assumed`: the assumptions made."""

    moments: dict[str, int]
    tuples: int
    downloads: dict[str, float]
    disk: dict[str, float]
    assumed: list[str]


def needs(config: Config) -> Needs:
    """Estimate what a run of `config` needs."""
    assumed: list[str] = []
    counts = {dataset.title: _moments(config, name, assumed) for name, dataset in config.datasets.items()}
    downloads = _downloads(config, assumed)
    total, evaluator = sum(counts.values()), config.evaluator
    frames = evaluator.frames * evaluator.frames_per_interval
    if evaluator.clip_side is None:
        clip_kb = frames * evaluator.image_size**2 * 3 / 1e3
    else:
        clip_kb = frames * CODED_KB_A_FRAME * (evaluator.clip_side / 256) ** 2
    clips = "clips for the evaluator" + ("" if evaluator.keep_clips else ", until it has scored")
    keyframes = sum(counts[dataset.title] * dataset.keyframes.segments for dataset in config.datasets.values())
    on_gpus = any(getattr(config.generation, role).kind.environment for role in ROLES)
    disk = {
        "models": sum(downloads.values()) + (CONVERTED_GB if evaluator.umt_file else 0.0),
        clips: total * clip_kb / 1e6,
        "features": total * FEATURE_KB_A_MOMENT / 1e6,
        "keyframes": keyframes * KEYFRAME_KB / 1e6,
        "ledger": (total * CALLS_A_MOMENT + keyframes) * LEDGER_KB_A_CALL / 1e6,
        "evaluator": 2 * STATE_GB.get(evaluator.size, 0.0),
        "environments": ENVIRONMENTS_GB if on_gpus else 0.0,
    }
    return Needs({title: count for title, count in counts.items() if count}, total, downloads, disk, assumed)


def _moments(config: Config, name: str, assumed: list[str]) -> int:
    title, source = config.datasets[name].title, config.datasets[name].source
    if isinstance(source, PublishedSource):
        known, fine = published_moments(config)[title], collections().get(FINE.get(source.collection, ""), {})
        for split, files in fine.items():
            wanted = source.splits is None or split in source.splits
            if wanted and split not in known and files[0].rows is not None:
                known[split] = files[0].rows
                assumed.append(f"{title} {split}: as many as its released fine captions, {known[split]}")
        return sum(known.values())
    try:
        if source.given_videos is None:
            return 0
        if source.lists_moments:
            return sum(1 for _ in source.rows())
        return len(read_moments_file(source.files(f"{dataset_folder(config, name)}/corpus")["moments"]))
    except InputError:
        assumed.append(f"{title}: its moments are not here and not counted")
        return 0


def _downloads(config: Config, assumed: list[str]) -> dict[str, float]:
    """GB by model; empty if a folder replaces the hub."""
    sizes: dict[str, float] = {}
    if config.weights.hub:
        return sizes
    locked = read_lock(config.weights.lock)["models"]
    for wanted in wanted_models(config):
        entry = locked.get(wanted.key)
        if entry:
            sizes[wanted.key] = sum(facts["bytes"] for facts in entry["files"].values()) / 1e9
        elif wanted.name in PUBLISHED_GB:
            sizes[wanted.key] = PUBLISHED_GB[wanted.name]
            assumed.append(f"{wanted.name}: by its parameters")
        else:
            assumed.append(f"{wanted.name}: size not known before `verified fetch --dry-run`")
    evaluator = config.evaluator
    if evaluator.umt_file and evaluator.umt_url and not Path(evaluator.umt_file).is_file():
        sizes[Path(evaluator.umt_file).name] = UMT_GB
        assumed.append("UMT's file: by its parameters and its teacher's")
    return sizes


def lines(estimate: Needs) -> list[str]:
    """The estimate as lines of text."""
    listed = ", ".join(f"{title} {count}" for title, count in estimate.moments.items())
    text = [f"Moments, and so tuples to fine-tune the evaluator with, before exclusions: {estimate.tuples} ({listed})."]
    for name, values in (("Downloads", estimate.downloads), ("Disk", estimate.disk)):
        breakdown = ", ".join(f"{purpose} {size:.1f}" for purpose, size in values.items() if size >= 0.05)
        text.append(f"{name}, GB: {sum(values.values()):.0f}{f' ({breakdown})' if breakdown else ''}.")
    text[-1] += " The videos themselves are not in it."
    if estimate.assumed:
        text.append(f"Assumed: {'; '.join(estimate.assumed)}.")
    return text
