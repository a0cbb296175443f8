"""Grounding in long videos: MAD's data sets, baselines, VLG-Net, CLIP4Clip, and the collection of described movies."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config import Config
from verified.extension import Extension
from verified_longform.config import Longform, check

if TYPE_CHECKING:
    from verified.cli.forms import Form
    from verified.stage import Stage


def _is_on(settings: Config) -> bool:
    return settings.section(Longform).described


def _stages() -> "Sequence[Stage]":
    from verified_longform.stage import STAGE

    return (STAGE,)


def _forms() -> "Sequence[Form]":
    from verified_longform.form import MOVIES

    return (MOVIES,)


def _import_clip4clip(file: Path, output: Path | None, options: dict[str, str]) -> str:
    from verified_longform.clip4clip import import_file

    return import_file(file, output, options)


EXTENSION = Extension(
    name="longform",
    title="ground sentences in movies",
    sections={"longform": Longform},
    is_on=_is_on,
    stands_alone=True,
    check=check,
    stages=_stages,
    forms=_forms,
    importers={"clip4clip": _import_clip4clip},
    commands=("verified_longform.cli",),
    families={"longform": "long videos"},
)
