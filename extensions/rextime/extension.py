"""Questions across time: ReXTime's questions, filters and evaluator, grounding models, LMMs, pages for annotators."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from verified.config import Config
from verified.extension import Extension
from verified_rextime.config import Rextime, check

if TYPE_CHECKING:
    from verified.cli.forms import AnswerPages, Form
    from verified.lmm.request import Reply, Request
    from verified.stage import Stage


def _is_on(settings: Config) -> bool:
    return settings.section(Rextime).asks


def _stages() -> "Sequence[Stage]":
    from verified_rextime.stage import STAGE

    return (STAGE,)


def _forms() -> "Sequence[Form]":
    from verified_rextime.form import QUESTIONS

    return (QUESTIONS,)


def _pages() -> "Sequence[AnswerPages]":
    from verified_rextime.answers import QUESTIONS

    return (QUESTIONS,)


def _read_scenes(request: "Request", rng: Random, corrupted_share: float) -> "Reply":
    from verified_rextime.scene_reader import reply

    return reply(request, rng, corrupted_share)


def _import_grounder(name: str, file: Path, output: Path | None, options: dict[str, str]) -> str:
    from verified_rextime.published import import_grounder

    return import_grounder(name, file, output, options)


EXTENSION = Extension(
    name="rextime",
    title="ask questions across time",
    sections={"rextime": Rextime},
    is_on=_is_on,
    stands_alone=True,
    check=check,
    stages=_stages,
    forms=_forms,
    pages=_pages,
    scene_reader=_read_scenes,
    importers={name: partial(_import_grounder, name) for name in ("univtg", "cg_detr")},
    commands=("verified_rextime.cli",),
    families={"rextime": "questions across time"},
)
