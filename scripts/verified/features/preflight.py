"""Check image encoders, and files of features, before a run."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from verified.benchmark.submissions import list_some
from verified.config import Config
from verified.config.features import PACKAGED, PACKAGED_JOINT, PACKAGED_KNOWS, SMALL_RESNET
from verified.config.folders import datasets_with
from verified.features.files import feature_problems
from verified.stage import Finding

ROWS = 1000
"""Items of a movie whose values are read: a file of MAD's frames is larger than memory."""
REMEDY = "make the features anew, one HDF5 data set [items, dim] per id"


def encoder_findings(settings: Config, *_: object) -> Iterator[Finding]:
    """Limits of the image encoders of workflow and packages on videos that are not rendered."""
    if all(settings.datasets[name].source.rendered for name in datasets_with(settings, "has_videos")):
        return
    key, name, better = "features.video_backbone", settings.features.video_backbone, "a CLIP or SigLIP model of the hub"
    used = {key: name}
    if settings.annotations.choose_by == "agreement":
        used["annotations.joint_encoder"] = settings.annotations.joint_encoder
    for setting, encoder in used.items():
        if encoder in (PACKAGED, PACKAGED_JOINT):
            yield Finding("note", setting, f"{encoder} {PACKAGED_KNOWS}", f"{better} knows more")
    if name == SMALL_RESNET:
        message = f"{name} knows nothing of real videos: results by its features are close to random"
        yield Finding("note", key, message, f"set it to {PACKAGED}; {better} knows more")


def file_findings(
    key: str,
    path: str,
    items: str,
    durations: Mapping[str, float | None],
    clip_seconds: float | None = None,
    rate: str | None = None,
) -> Iterator[Finding]:
    """Problems of one file; `items` is the noun for its ids, `rate` the key with its rate."""
    if not Path(path).is_file():  # another check reports it
        return
    missing: list[str] = []
    problems = [*feature_problems(path, durations, clip_seconds, ROWS, missing, vectors=items == "annotations")]
    remedy = f"{REMEDY}, or set {rate}" if rate else REMEDY
    yield from (Finding("problem", key, f"{path}: {problem}", remedy) for problem in problems)
    if missing:
        level = "problem" if len(missing) == len(durations) else "note"
        message = f"{path}: no features of {len(missing)} of {len(durations)} {items}: {list_some(missing)}"
        yield Finding(level, key, message, "data sets are named by id; what has none is left out")
    elif not problems:
        yield Finding("ok", key, f"{path}: features of {len(durations)} {items} fit")
