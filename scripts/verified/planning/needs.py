"""Estimate the disk that a run needs, with the assumptions behind each figure."""

from pathlib import Path

from verified.config import Config
from verified.config.folders import dataset_folder
from verified.config.generation import ROLES
from verified.config.sources import PublishedSource
from verified.errors import InputError
from verified.io.moments_file import iterate_moments_file
from verified.planning.stages import wanted_models
from verified.released.collections import resolve
from verified.released.files import SOURCES, SourceFile, collections
from verified.weights.records import read_lock

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


def disk_needs(config: Config) -> dict[str, float]:
    """Estimate the disk that a run of `config` needs, in GB by purpose."""
    counts = {name: _moments(config, name) for name in config.datasets}
    total, evaluator = sum(counts.values()), config.evaluator
    frames = evaluator.frames * evaluator.frames_per_interval
    if evaluator.clip_side is None:
        clip_kb = frames * evaluator.image_size**2 * 3 / 1e3
    else:
        clip_kb = frames * CODED_KB_A_FRAME * (evaluator.clip_side / 256) ** 2
    clips = "clips for the evaluator" + ("" if evaluator.keep_clips else ", until it has scored")
    keyframes = sum(counts[name] * dataset.keyframes.segments for name, dataset in config.datasets.items())
    on_gpus = any(getattr(config.generation, role).kind.environment for role in ROLES)
    return {
        "models": _models(config) + (CONVERTED_GB if evaluator.umt_file else 0.0),
        clips: total * clip_kb / 1e6,
        "features": total * FEATURE_KB_A_MOMENT / 1e6,
        "keyframes": keyframes * KEYFRAME_KB / 1e6,
        "ledger": (total * CALLS_A_MOMENT + keyframes) * LEDGER_KB_A_CALL / 1e6,
        "evaluator": 2 * STATE_GB.get(evaluator.size, 0.0),
        "environments": ENVIRONMENTS_GB if on_gpus else 0.0,
    }


def published_files(source: PublishedSource) -> dict[str, tuple[SourceFile, ...]]:
    """The files of a published collection by split."""
    listed = Path(source.sources or SOURCES)
    published = collections(listed) if listed.is_file() else {}
    return published.get(source.collection) or resolve(source).files


def _moments(config: Config, name: str) -> int:
    """Number of moments of a data set; 0 for one whose moments are not here yet."""
    source = config.datasets[name].source
    if isinstance(source, PublishedSource):
        rows: dict[str, int] = {}  # a split whose own file is not public has as many as its fine captions
        for listed in (collections().get(FINE.get(source.collection, ""), {}), published_files(source)):
            rows |= {split: files[0].rows for split, files in listed.items() if files[0].rows is not None}
        return sum(count for split, count in rows.items() if source.splits is None or split in source.splits)
    try:
        if source.given_videos is None:
            return 0
        if source.lists_moments:
            return sum(1 for _ in source.rows())
        moments = source.files(f"{dataset_folder(config, name)}/corpus")["moments"]
        return sum(1 for _ in iterate_moments_file(moments))
    except InputError:
        return 0


def _models(config: Config) -> float:
    """GB of the models to fetch; none if a folder replaces the hub, or of unknown size."""
    if config.weights.hub:
        return 0.0
    locked, total = read_lock(config.weights.lock)["models"], 0.0
    for model in wanted_models(config):
        if entry := locked.get(model.key):
            total += sum(facts["bytes"] for facts in entry["files"].values()) / 1e9
        else:
            total += PUBLISHED_GB.get(model.name, 0.0)
    evaluator = config.evaluator
    if evaluator.umt_file and evaluator.umt_url and not Path(evaluator.umt_file).is_file():
        total += UMT_GB
    return total
