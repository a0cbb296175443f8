"""Grounding in long videos: MAD's data sets, baselines, VLG-Net, CLIP4Clip, and the collection of described movies."""

from pathlib import Path

from verified.extension import Extension
from verified_longform.config import Longform, check


def _stages():
    from verified_longform.stage import STAGE

    return (STAGE,)


def _forms():
    from verified_longform.form import MOVIES

    return (MOVIES,)


def _import_clip4clip(file: Path, output: Path | None, options: dict[str, str]) -> str:
    from verified_longform.clip4clip import import_file

    return import_file(file, output, options)


EXTENSION = Extension(
    name="longform",
    title="ground sentences in movies",
    sections={"longform": Longform},
    is_on=lambda settings: settings.section(Longform).described,
    check=check,
    stages=_stages,
    forms=_forms,
    importers={"clip4clip": _import_clip4clip},
)
