"""`verified init` writes a configuration for a folder of videos, a moments file and an endpoint."""

from typing import cast

import yaml

from verified.config import Config, load
from verified.config.features import PACKAGED
from verified.config.retrieval import SELECTION_VIDEOS
from verified.config.sources import FolderSource
from verified.corpus.inventory import Unprobed, unprobed_rows
from verified.corpus.video_folder import list_folder
from verified.extension import extensions

HEAD = """\
# {name}: by `verified init`. `verified dev config-docs` lists all keys, `verified check --configfile FILE` tries it.
"""


FEW = f"""\
# Fewer than {SELECTION_VIDEOS} videos would select an epoch: too few to train retrieval models. With more: [xml].
# Not hero, which trains 5,000 steps on any corpus.
"""


def configuration(
    name: str, videos: str, moments: str | None, url: str | None, model: str, vision_model: str | None, key: str
) -> tuple[str, Config, list[str]]:
    """The text of the file, its parsed configuration, and a line for each unusable row of the moments file.

    The text is empty if no row is usable. Raises InputError if it would not be a valid configuration.
    """
    role = {"engine": "openai", "model": model, "api_key_variable": key} | ({"base_url": url} if url else {})
    seeing = {**role, "model": vision_model or model}
    source = {"kind": "folder", "videos": videos} | ({"moments": moments} if moments else {})
    values: dict = {
        "name": name,
        "datasets": {name: {"title": f"{name.capitalize()}-FIG", "source": source}},
        "features": {"video_backbone": PACKAGED},
        **{key: dict(kind.initial) for part in extensions() for key, kind in part.sections.items() if kind.initial},
        "generation": {"llm": role, "image_lmm": seeing, "video_lmm": dict(seeing)},
    }
    settings = load(values, "verified init")
    folder = cast(FolderSource, settings.datasets[name].source)
    read = unprobed_rows(folder, "") if moments else None
    count = settings.evaluator.batch if read is None else len(read.usable)
    refused = [
        f"{moments}, row {row['row']}: {row['reason']}: {row['detail']} (video: {row['video']})"
        for row in (read.refused if read else ())
    ]
    if not count:
        return "", settings, refused
    if count < settings.evaluator.batch:
        values["evaluator"] = {"batch": max(2, count)}
        settings = load(values, "verified init")
    if _selection_videos(read, settings, name, videos) < SELECTION_VIDEOS:
        values["retrieval"] = {"models": []}
    text = "".join(
        (FEW if section == "retrieval" else "")
        + yaml.safe_dump({section: values[section]}, sort_keys=False, allow_unicode=True)
        for section in values
    )
    return HEAD.format(name=name) + text, settings, refused


def _selection_videos(read: Unprobed | None, settings: Config, name: str, videos: str) -> int:
    """Number of videos for epoch selection: those of the selection split, else a tenth."""
    if read is None:
        return len(list_folder(videos).files) // 10
    chosen = {row["video"] for row in read.usable if row["split"] == settings.datasets[name].spans.selection_split}
    return len(chosen) or len({row["video"] for row in read.usable}) // 10
