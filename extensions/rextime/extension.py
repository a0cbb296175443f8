"""Questions across time: ReXTime's questions, filters and evaluator, grounding models, LMMs, pages for annotators."""

from functools import partial
from pathlib import Path

from verified.extension import Extension
from verified_rextime.config import Rextime, check


def _stages():
    from verified_rextime.stage import STAGE

    return (STAGE,)


def _forms():
    from verified_rextime.form import QUESTIONS

    return (QUESTIONS,)


def _import_grounder(name: str, file: Path, output: Path | None, options: dict[str, str]) -> str:
    from verified_rextime.published import import_grounder

    return import_grounder(name, file, output, options)


def _commands():
    from verified_rextime import cli

    return (cli,)


EXTENSION = Extension(
    name="rextime",
    title="ask questions across time",
    sections={"rextime": Rextime},
    is_on=lambda settings: settings.section(Rextime).asks,
    check=check,
    stages=_stages,
    forms=_forms,
    importers={name: partial(_import_grounder, name) for name in ("univtg", "cg_detr")},
    commands=_commands,
)
