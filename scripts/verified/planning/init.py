"""`verified init`: a configuration for a folder of videos, a moments file and an endpoint."""

from collections import Counter
from pathlib import Path
from typing import cast

import yaml

from verified.config import Config, load
from verified.config.features import PACKAGED
from verified.config.sources import FolderSource
from verified.corpus.unprobed import unprobed_rows
from verified.errors import InputError
from verified.io.files import write_text
from verified.search.paths import JOINT

HEAD = """\
# {name}: written by `verified init`. config/README.md lists every key, `verified check --configfile FILE` tries it out.
"""


def configuration(
    name: str, videos: str, moments: str | None, url: str | None, model: str, vision_model: str | None, key: str
) -> tuple[str, Config]:
    """The text of the file, and what it says. Raises InputError where it would not be a configuration."""
    role = {"engine": "openai", "model": model, "api_key_variable": key} | ({"base_url": url} if url else {})
    seeing = {**role, "model": vision_model or model}
    source = {"kind": "folder", "videos": videos} | ({"moments": moments} if moments else {})
    values: dict = {
        "name": name,
        "datasets": {name: {"title": f"{name.capitalize()}-FIG", "source": source}},
        "features": {"video_backbone": PACKAGED},
        "search": {"model": JOINT},
        "generation": {"llm": role, "image_lmm": seeing, "video_lmm": dict(seeing)},
    }
    settings = load(values, "verified init")
    given = cast(FolderSource, settings.datasets[name].source)
    read = unprobed_rows(given, "") if moments else None
    count = settings.evaluator.batch if read is None else len(read.usable)
    if read is not None and not count:
        reasons = Counter(row["reason"] for row in read.refused).most_common()
        first = read.refused[0]
        raise InputError(
            "no row of it can be used: " + ", ".join(f"{reason} ({number})" for reason, number in reasons),
            file=moments,
            row=first["row"],
            remedy=f"{first['detail']}; `video` is a path below the folder of videos, times are seconds",
        )
    if count < settings.evaluator.batch:
        values["evaluator"] = {"batch": max(2, count)}
        settings = load(values, "verified init")
    text = "".join(
        yaml.safe_dump({section: values[section]}, sort_keys=False, allow_unicode=True) for section in values
    )
    return HEAD.format(name=name) + text, settings


def write_configuration(path: Path, text: str) -> None:
    """Write the file; raises InputError where there is one already."""
    if path.exists():
        raise InputError("is there already", file=path, remedy="move it away, or give --output another name")
    write_text(path, text)
